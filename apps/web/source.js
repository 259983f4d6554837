// Where pictures come from: the camera, a video or a photograph.

const WHY = {
  NotAllowedError: 'The camera was refused. Allow it for this page in the browser, or open a video or a photograph.',
  NotFoundError: 'No camera was found. Open a video or a photograph instead.',
  NotReadableError: 'The camera is busy: another program uses it.',
  OverconstrainedError: 'The camera has no picture of a size that fits.',
};

export class Source extends EventTarget {
  #video;
  #still;
  #stream = null;
  #address = null;
  kind = null;

  constructor(video, still) {
    super();
    this.#video = video;
    this.#still = still;
  }
  /** What is looked at. */
  get element() {
    return this.kind === 'photograph' ? this.#still : this.#video;
  }
  get width() {
    return this.kind === 'photograph' ? this.#still.naturalWidth : this.#video.videoWidth;
  }
  get height() {
    return this.kind === 'photograph' ? this.#still.naturalHeight : this.#video.videoHeight;
  }
  get moves() {
    return this.kind === 'camera' || this.kind === 'video';
  }

  async camera() {
    if (!navigator.mediaDevices?.getUserMedia)
      throw new Error('Browsers give the camera only to pages from https or localhost.');
    let stream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({
        video: { width: { ideal: 640 }, height: { ideal: 480 }, frameRate: { ideal: 60 }, facingMode: 'user' },
        audio: false,
      });
    } catch (error) {
      throw new Error(WHY[error.name] ?? `The camera could not be used: ${error.message}`);
    }
    this.stop();
    this.#stream = stream;
    for (const track of stream.getVideoTracks())
      track.addEventListener('ended', () => {
        if (this.#stream !== stream) return;
        this.stop();
        this.dispatchEvent(new Event('gone'));
      });
    this.#video.srcObject = stream;
    await this.#play('camera');
  }

  async file(file) {
    this.stop();
    this.#address = URL.createObjectURL(file);
    if (file.type.startsWith('image/')) {
      this.#still.src = this.#address;
      try {
        await this.#still.decode();
      } catch {
        this.stop();
        throw new Error(`${file.name} is no picture that this browser can read.`);
      }
      this.#begin('photograph');
      return;
    }
    this.#video.src = this.#address;
    try {
      await this.#play('video');
    } catch (error) {
      if (error.name === 'AbortError') return; // another source was chosen meanwhile
      this.stop();
      throw new Error(`${file.name} is no video that this browser can play.`);
    }
  }

  async #play(kind) {
    await this.#video.play();
    if (!this.#video.videoWidth) throw new Error('there is no picture in it');
    this.#begin(kind);
  }
  #begin(kind) {
    this.kind = kind;
    this.#still.hidden = kind !== 'photograph';
    this.#video.hidden = kind === 'photograph';
    this.dispatchEvent(new Event('begin'));
  }

  stop() {
    this.kind = null;
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    this.#stream = null;
    this.#video.pause();
    this.#video.srcObject = null;
    if (this.#address) {
      URL.revokeObjectURL(this.#address);
      this.#address = null;
      this.#video.removeAttribute('src');
      this.#still.removeAttribute('src');
    }
  }
}
