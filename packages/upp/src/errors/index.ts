// The entry point of the errors: the base class and the errors of the model layer.

export {
	checkOptions,
	type KnownOptions,
	type NameHints,
	type OptionKind,
	optionNames,
} from "./check-names.ts";
export { failureText } from "./failure-text.ts";
export {
	HoldfastError,
	type HoldfastErrorOptions,
	HoldfastTypeError,
	isHoldfastError,
} from "./holdfast-error.ts";
export { messageOf } from "./message-of.ts";
export { nearest } from "./nearest.ts";
export { ErrorCode, isUPPError, type Modality, UPPError } from "./upp-error.ts";
