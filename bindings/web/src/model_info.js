import { SdmError, made } from './wasm.js';

/** What a model file says of itself: kind, header and tensors. */
export function infoOf({ wasm, handle }) {
  if (!wasm.exports.sdm_model_info) throw new SdmError('this needs the whole library: await load({ everything: true })');
  const at = made(wasm, 'sdm_model_info', handle);
  const text = wasm.string(at);
  wasm.exports.sdm_free(at);
  return JSON.parse(text);
}
