// A model call that code makes itself, outside the conversation: under the policy of its run, which counts its usage with the
// tool call that records it.
import { HoldfastError, type Message } from "@holdfast/upp";
import { AssembledRequest, type ModelAnswer } from "../policy/index.ts";
import type { Run } from "./run.ts";

/** The id of the model, the messages, and the function that sends them. */
export type OwnModelCall = readonly [
	modelId: string,
	messages: readonly Message[],
	send: (messages: readonly Message[]) => Promise<ModelAnswer>,
];

/** Makes the call. Rejects with `model_call_refused` if policy would end the run. */
export async function ownModelCall(
	{ interceptors, state }: Run,
	{ step, signal }: { readonly step: number; readonly signal: AbortSignal },
	[modelId, given, send]: OwnModelCall,
): Promise<ModelAnswer> {
	if ((await interceptors.stop?.(state.agent)) === true)
		throw new HoldfastError(
			"model_call_refused",
			"The model was not called, because the policy of the run ends it here: a budget is used up, for example. Raise the limit, or catch the error.",
		);
	const messages = (await interceptors.assemble?.(given, new AssembledRequest(given))) ?? given;
	const sent = (): Promise<ModelAnswer> => send(messages);
	return interceptors.modelCall?.({ step, tag: "code", modelId, signal }, sent) ?? sent();
}
