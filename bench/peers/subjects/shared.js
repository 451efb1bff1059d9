// What all subjects share: the tool's result, and the pieces of a stream.
export const result = "0123456789".repeat(10);
export const words = (count) => Array.from({ length: count }, () => "word ");
