// The errors of the core: one base class (upp's), one table of codes (keeps I9).
export { HoldfastError, isHoldfastError } from "@holdfast/upp";
