import { defineModel } from "@holdfast/threads";
import offline from "../providers/offline.ts";

// Replace the provider by a real one, and the project needs no other change.
export default defineModel({
	name: "offline",
	provider: offline,
	model: "rules",
	inputPrice: 0,
	outputPrice: 0,
	capabilities: { supportsToolCalls: true, supportsStreaming: true },
});
