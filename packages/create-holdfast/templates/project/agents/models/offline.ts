import { defineModel } from "@holdfast/threads";
import offline from "../providers/offline.ts";

// Replace the provider with a real one; the project requires no other change.
export default defineModel({
	name: "offline",
	provider: offline,
	model: "rules",
	inputPrice: 0,
	outputPrice: 0,
	capabilities: { supportsToolCalls: true, supportsStreaming: true },
});
