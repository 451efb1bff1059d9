// No option is silent (I12): wherever the public API takes an object of options, a name that it does not have is refused
// before anything happens.
import { join } from "node:path";
import { isHoldfastError } from "holdfast";
import { describe, expect, test } from "vitest";
import { listOptions, type OptionsPlace } from "./list-options.fixture.ts";
import { model, places } from "./places.fixture.ts";

/** What users of other libraries write first. */
const foreign = [
	"stopWhen",
	"maxIterations",
	"maxTokens",
	"temperature",
	"prompt",
	"memory",
	"providerOptions",
	"onStepFinish",
	"schema",
	"store",
	"timeout",
	"instructions",
];

/** Classes and interfaces whose methods are called by users; those of ports are called by the engine. */
const called = [
	"Agent",
	"AgentService",
	"Client",
	"Redactor",
	"RunnerAgent",
	"Sandbox",
	"Server",
	"Session",
	"SessionService",
	"Threads",
	"Workflow",
];

const ofErrors = "An error within an error would hide the first one.";
const ofMessages = "A message may be given there: its id, its time and its metadata are taken.";
const ofRoutes = "Routes call it with what they have read of a request.";

/** What is listed and has no options, or whose options cannot be misspelt by a user, with the reason. */
const leftOut: Readonly<Record<string, string>> = {
	"client new ClientError(options)": ofErrors,
	"holdfast new HoldfastError(options)": ofErrors,
	"upp new HoldfastTypeError(options)": ofErrors,
	"holdfast/host readBounded(options)": "It is for packages of the project.",
	"client/ai-sdk someMessageIsAnswered(options)": "The AI SDK calls it with members of its own.",
	"create-holdfast writeTemplate(options)":
		"The command reads its arguments first, and refuses unknown ones.",
	"holdfast new AgentSession(context)": "createSession() makes it, and checks it.",
	"holdfast new AgentSession(options)": "createSession() makes it, and checks them.",
	"holdfast Session.deliver(options)": "It is internal.",
	"holdfast/workflow new Workflow(options)": "workflow() makes it, and checks them.",
	"holdfast/workflow new WorkflowSession(about)": "Workflow.session() makes it.",
	"mcp new McpServers(options)": "connectMcp() makes them, and checks them there.",
	"runner Agent.registerTool(tool)": "A tool is an object of the user, which may have members of its own.",
	"server SessionService.submit(request)": ofRoutes,
	"server SessionService.submit(options)": ofRoutes,
	"server SessionService.list(options)": ofRoutes,
	"server SessionService.follow(options)": ofRoutes,
	"upp bindModel(options)": "llm() checks them.",
	"upp encodeValue(options)": "It is for packages of the project.",
	"upp new AssistantMessage(options)": ofMessages,
	"upp new ToolResultMessage(options)": ofMessages,
	"upp new UserMessage(options)": ofMessages,
	"upp new Message(options)": ofMessages,
	"upp setSystem(sent)": "It is for packages of the project.",
	"upp startTimer(options)": "It is for packages of the project.",
};

/** Names that are taken as other libraries write them, without being in the types. */
const alsoKnown: Readonly<Record<string, readonly string[]>> = {
	"holdfast tool(declaration)": ["providerOptions"],
};

const root = join(import.meta.dirname, "../..");
const isOptions =
	/Options|AgentContext\b|Settings|Config\b|Definition|Declaration|Request\b|ListThreads|RecordChange|Tolerance|^\{/;

const listed = new Map<string, OptionsPlace>(
	listOptions(root)
		.filter((place) => isOptions.test(place.type) && isCalled(place.of) && !isInternal(place))
		.map((place) => [`${entryOf(place)} ${place.of}(${place.parameter})`, place] as const),
);

function isCalled(of: string): boolean {
	const [owner = "", method] = of.split(".");
	return method === undefined || called.includes(owner);
}

/** `holdfast/execute` is what packages of the project share; `@holdfast/testing` is typed, and used in tests alone. */
function isInternal({ entries: [entry = ""] }: OptionsPlace): boolean {
	return entry === "holdfast/execute" || entry.startsWith("@holdfast/testing");
}

function entryOf({ entries: [entry = ""] }: OptionsPlace): string {
	return entry.replace("@holdfast/", "");
}

/** What a call with one more name came to. */
async function errorOf(key: string, name: string): Promise<{ code?: string; message: string }> {
	try {
		const result = (await places[key]?.({ [name]: 1 as never })) as { result?: () => unknown } | undefined;
		if (typeof result?.result === "function") await result.result();
	} catch (error) {
		if (!isHoldfastError(error)) return { message: String(error) };
		return error;
	}
	return { message: "nothing was thrown" };
}

/** A member without one of its letters; undefined where that is another member, or all are too short to be guessed. */
function misspelt(members: readonly string[]): { readonly slip: string; readonly meant: string } | undefined {
	const meant = members.find((member) => member.length >= 6);
	const slip = meant && `${meant.slice(0, 2)}${meant.slice(3)}`;
	return meant === undefined || slip === undefined || members.includes(slip) ? undefined : { slip, meant };
}

test("each place that accepts options is in the table, and nothing else is", () => {
	const expected = [...listed.keys()].filter((key) => leftOut[key] === undefined);
	expect(Object.keys(places).sort()).toEqual(expected.sort());
});

describe.each(Object.keys(places))("%s", (key) => {
	const { members = [] } = listed.get(key) ?? {};

	test("rejects a misspelt name, and suggests the intended one", async () => {
		const { slip, meant } = misspelt(members) ?? { slip: "nothing", meant: "" };
		const { code, message } = await errorOf(key, slip);
		expect(message).toContain(slip);
		expect(message).toContain(meant);
		expect(code).toMatch(/^(?:invalid_|CONFIG_INVALID)/);
	});

	test.each(foreign.filter((name) => !members.includes(name) && !alsoKnown[key]?.includes(name)))(
		"rejects the foreign name %s",
		async (name) => {
			const { code, message } = await errorOf(key, name);
			expect(message).toContain(name);
			expect(code).toMatch(/^(?:invalid_|CONFIG_INVALID)/);
		},
	);
});

test("none of them called a model", () => {
	expect(model.requests).toHaveLength(0);
});
