// A server that was given no place for its sessions: `begin` executes in one, `list` says which there are. Then it
// is killed.
import { scriptedModel } from "@holdfast/testing";
import { listen } from "./server.ts";

const { url } = await listen({ agent: { model: scriptedModel(() => "Hello.") }, port: 0 });
if (process.argv[2] === "begin") {
	const response = await fetch(`${url}/api/agent/execute`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({ sessionId: "s", input: "hi", context: {} }),
	});
	await response.text();
}
const { sessions } = (await (await fetch(`${url}/api/agent/sessions`)).json()) as {
	sessions: { sessionId: string }[];
};
process.send?.(
	sessions.map(({ sessionId }) => sessionId),
	() => process.kill(process.pid, "SIGKILL"),
);
