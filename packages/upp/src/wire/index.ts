// The entry point of wire formats: names, ids and schemas in a form that all providers accept.

export { isClosedSchema } from "./closed-schema.ts";
export { answerSchema, objectSchema } from "./object-schema.ts";
export { ownPropertyNames, wireArguments, withWireProperties } from "./property-names.ts";
export { repairSchema } from "./repair-schema.ts";
export { nineCharacterId, wireCallId, wireToolName } from "./wire-names.ts";
