// Entry point of encryption.
export { keyRequired, keyRingOf } from "./encryption-option.ts";
export { decryptFailed, isSealed, KeyRing } from "./key-ring.ts";
