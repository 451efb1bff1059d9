// Entry point of the harness: stubs and expectations for tests of agents.
export { type ExpectedAction, expectActions } from "./expect-actions.ts";
export { snapshot } from "./snapshot.ts";
export {
	type StubClient,
	type StubOptions,
	type StubPrompt,
	type StubReply,
	stubClient,
} from "./stub-client.ts";
