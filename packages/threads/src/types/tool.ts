// Tools: their arguments, their results, and the options of `defineTool`.
import type {
	infer as Infer,
	ZodArray,
	ZodBoolean,
	ZodDefault,
	ZodEnum,
	ZodLiteral,
	ZodNull,
	ZodNullable,
	ZodNumber,
	ZodObject,
	ZodOptional,
	ZodRecord,
	ZodString,
	ZodStringFormat,
	ZodUnion,
	ZodUnknown,
} from "zod";
import type { ThreadState } from "./thread-state.ts";

type Dec<N extends number> = N extends 7
	? 6
	: N extends 6
		? 5
		: N extends 5
			? 4
			: N extends 4
				? 3
				: N extends 3
					? 2
					: N extends 2
						? 1
						: 0;

/** Zod types that arguments of a tool can use, nested at most `D` levels deep. */
export type ToolArgsNode<D extends number = 7> =
	| ZodString
	| ZodStringFormat
	| ZodNumber
	| ZodBoolean
	| ZodNull
	| ZodLiteral<string | number | boolean | null>
	| ZodUnknown
	| ZodEnum<Readonly<Record<string, string>>>
	| (D extends 0 ? never : ZodOptional<ToolArgsNode<Dec<D>>>)
	| (D extends 0 ? never : ZodNullable<ToolArgsNode<Dec<D>>>)
	| (D extends 0 ? never : ZodDefault<ToolArgsNode<Dec<D>>>)
	| (D extends 0 ? never : ZodArray<ToolArgsNode<Dec<D>>>)
	| (D extends 0 ? never : ZodObject<Record<string, ToolArgsNode<Dec<D>>>>)
	| (D extends 0 ? never : ZodRecord<ZodString, ToolArgsNode<Dec<D>>>)
	| (D extends 0
			? never
			: ZodUnion<readonly [ToolArgsNode<Dec<D>>, ToolArgsNode<Dec<D>>, ...ToolArgsNode<Dec<D>>[]]>);

/** The arguments of a tool by name. */
export type ToolArgsRawShape = Record<string, ToolArgsNode>;
/** The schema of a tool's arguments: a zod object. */
export type ToolArgs = ZodObject<ToolArgsRawShape>;
/** The thread environment values of a tool by name. */
export type TenvRawShape = Record<string, ToolArgsNode>;
/** The schema of the thread environment values that a tool needs: a zod object. */
export type ToolTenvs = ZodObject<TenvRawShape>;

/** How an environment value is displayed: `secret` values are redacted everywhere. */
export type VariableType = "text" | "secret";

/** A value of the environment that a tool or a prompt needs. */
export interface VariableDefinition {
	/** Its name. */
	name: string;
	/** Whether it may be displayed. */
	type: VariableType;
	/** Whether the tool or prompt cannot run without it. */
	required: boolean;
	/** Whether it stays in its own thread and is hidden from descendants; `false` by default. */
	scoped?: boolean;
	/** A description for the person who provides it. */
	description: string;
}

/** Values of the environment that a tool needs. */
export type ToolVariables = VariableDefinition[];

/** A file that a tool created: it is written to the thread's files. */
export interface ToolAttachment {
	/** Its file name. */
	name: string;
	/** Its MIME type. */
	mimeType: string;
	/** Its bytes in base64. */
	data: string;
	/** Width in pixels, for an image. */
	width?: number;
	/** Height in pixels, for an image. */
	height?: number;
}

/** A file of the thread that a message refers to. */
export interface AttachmentRef {
	/** Unique in the thread. */
	id: string;
	/** Always `file`. */
	type: "file";
	/** The path in the thread's files. */
	path: string;
	/** Its file name. */
	name: string;
	/** Its MIME type. */
	mimeType: string;
	/** Size in bytes. */
	size: number;
	/** Width in pixels, for an image. */
	width?: number;
	/** Height in pixels, for an image. */
	height?: number;
	/** A description of its content. */
	description?: string;
}

/**
 * The result of a tool.
 */
export interface ToolResult {
	/** Whether the tool succeeded. */
	status: "success" | "error";
	/** The output for the model; JSON if it has parts. */
	result?: string;
	/** The error message. */
	error?: string;
	/** The stack trace of the error. */
	stack?: string;
	/** Files that belong to the result. */
	attachments?: (ToolAttachment | AttachmentRef)[];
}

/** A text part of a result. */
export interface TextContent {
	/** Always `text`. */
	type: "text";
	/** The text. */
	text: string;
}

/** An image part of a result. */
export interface ImageContent {
	/** Always `image`. */
	type: "image";
	/** Its bytes in base64. */
	data: string;
	/** Its MIME type. */
	mimeType: string;
}

/** A part of a result. */
export type ToolContent = TextContent | ImageContent;

/** The function of a tool, with arguments if it has any. */
export type Tool<State = ThreadState, Args extends ToolArgs | null = null> = [Args] extends [ToolArgs]
	? (state: State, args: Infer<Args>) => ToolResult | Promise<ToolResult>
	: (state: State) => ToolResult | Promise<ToolResult>;

/** A state that can queue and invoke only the named tools. */
export type UsesConstrainedState<State, Uses extends readonly string[]> = Omit<
	State,
	"queueTool" | "invokeTool"
> & {
	queueTool(name: Uses[number], args?: Record<string, unknown>): Promise<void>;
	invokeTool(name: Uses[number], args?: Record<string, unknown>): Promise<ToolResult>;
};

/** A state that cannot queue or invoke any tool. */
export type EmptyUsesState<State> = UsesConstrainedState<State, readonly never[]>;

/** The state of a tool, limited to the tools that it declared in `uses`: any tool if it declared none. */
export type ResolveUsesState<State, Uses extends readonly string[] | undefined> = Uses extends readonly []
	? EmptyUsesState<State>
	: Uses extends readonly string[]
		? UsesConstrainedState<State, Uses>
		: State;

/** The function of a tool whose state is limited to the tools it uses. */
export type UsesAwareExecute<
	State,
	Args extends ToolArgs | null,
	Uses extends readonly string[] | undefined,
> = Tool<ResolveUsesState<State, Uses>, Args>;

/** Options of {@link defineTool}. */
export interface DefineToolOptions<
	State = ThreadState,
	Args extends ToolArgs | null = null,
	Tenvs extends ToolTenvs | null = null,
	Uses extends readonly string[] | undefined = undefined,
> {
	/** A description for the model. */
	description: string;
	/** The schema of the arguments; the tool takes none by default. */
	args?: Args;
	/** Runs the tool. If it throws, the result is an error. */
	execute: UsesAwareExecute<State, Args, Uses>;
	/** Thread environment values it needs; none by default. */
	tenvs?: Tenvs;
	/** Environment values it needs; none by default. */
	variables?: ToolVariables;
	/** The tools it may queue and invoke; all visible ones by default. */
	uses?: Uses;
	/** Where it runs: in the runtime (`local`, the default) or at the model's provider. */
	executionMode?: "local" | "provider";
	/** The provider that executes it. */
	executionProvider?: string;
}

/** A defined tool. The file's name is the tool's name. */
export interface ToolDefinition<
	State = ThreadState,
	Args extends ToolArgs | null = ToolArgs | null,
	Tenvs extends ToolTenvs | null = ToolTenvs | null,
> {
	/** A description for the model. */
	description: string;
	/** The schema of the arguments; null if it takes none. */
	args: Args;
	/** Runs the tool; called with only the state if `args` is null. */
	// biome-ignore lint/suspicious/noExplicitAny: the runtime calls it with what `args` accepted
	execute: (state: State, args?: any) => ToolResult | Promise<ToolResult>;
	/** Thread environment values it needs; null for none. */
	tenvs: Tenvs;
	/** Environment values it needs. */
	variables: ToolVariables;
	/** The tools it may queue and invoke; undefined for all visible ones. */
	uses: readonly string[] | undefined;
	/** Where it runs: in the runtime or at the model's provider. */
	executionMode: "local" | "provider";
	/** The provider that executes it. */
	executionProvider?: string;
}
