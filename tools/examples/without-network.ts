// Loaded before an example: provider packages resolve to the stub, https://agents.example is a stub server, servers that
// the example started are reachable, and all other network requests fail with a clear error.
import { registerHooks } from "node:module";
import { answerAsServer } from "./stub-server.ts";

const stub = new URL("./stub-provider.ts", import.meta.url).href;
const replaced: ReadonlySet<string> = new Set([
	"@ai-sdk/anthropic",
	"@ai-sdk/google",
	"@ai-sdk/openai",
	"@ai-sdk/openai-compatible",
]);

registerHooks({
	resolve: (specifier, context, nextResolve) =>
		replaced.has(specifier) ? { url: stub, shortCircuit: true } : nextResolve(specifier, context),
});

const fetchAnything = globalThis.fetch;
globalThis.fetch = async (input, init) => {
	const address = input instanceof Request ? input.url : String(input);
	// A server that the example itself started is not the network.
	if (address.startsWith("http://127.0.0.1:")) return fetchAnything(input, init);
	const answer = answerAsServer(address, init);
	if (answer !== undefined) return answer;
	throw new Error(`An example asked the network for ${address}; mark the block \`ts no-run\` if it has to.`);
};
