// The models of the package, chosen here and nowhere else (CMakeLists.txt copies them under these names).
export const landmarks = () => new URL('./models/landmarks.sdm', import.meta.url);
export const detector = () => new URL('./models/detector.sdm', import.meta.url);
