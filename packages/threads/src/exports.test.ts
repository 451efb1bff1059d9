import { expect, test } from "vitest";
import * as threads from "./index.ts";

/** Every function and constant that the declarations of document 2 name. */
const named = [
	"ProviderError",
	"THREAD_ENDPOINT_SYMBOL",
	"belongsToPackage",
	"defineAgent",
	"defineController",
	"defineEffect",
	"defineHook",
	"defineModel",
	"definePrompt",
	"defineThreadEndpoint",
	"defineTool",
	"isPacked",
	"isThreadEndpoint",
	"isVisibleInNamespace",
	"mapReasoningLevel",
	"validateToolName",
];

test("the package exports every function and constant of the document [SA-220]", () => {
	expect(Object.keys(threads)).toEqual(expect.arrayContaining(named));
	expect(typeof threads.THREAD_ENDPOINT_SYMBOL).toBe("symbol");
});
