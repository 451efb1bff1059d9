// The entry point of the forms that providers accept: names, ids and schemas as all of them document.

export { isClosedSchema } from "./closed-schema.ts";
export { answerSchema, objectSchema } from "./object-schema.ts";
export { ownPropertyNames, wireArguments, withWireProperties } from "./property-names.ts";
export { repairSchema } from "./repair-schema.ts";
export { nineCharacterId, wireCallId, wireToolName } from "./wire-names.ts";
