// Vite's development server moves a package's modules into one file elsewhere, but not the files beside them.
const MOVED = '/node_modules/.vite/deps/';

/** Whether that has happened to this module. */
export const moved = import.meta.url.includes(MOVED);

/** Where a file of the package is, whose address was told by its module. */
export const place = (address) => new URL(address.href.replace(MOVED, '/node_modules/sdm-face/'));
