/** The command `context`: prints what fills the context of a session's model, how much of it is cached, and advice. */

import { type AnyMessage, textOfSystem } from "@holdfast/upp";
import { cacheReportOf, foldEntries } from "holdfast/host";
import { contextLines, contextOf } from "../render/index.ts";
import { type CommandIo, oneLine } from "../terminal/index.ts";
import {
	chatSummaryOf,
	exitCodes,
	findSession,
	openExisting,
	shownDatabase,
	summarised,
	UsageError,
} from "../work/index.ts";
import type { Command } from "./arguments.ts";
import { servedContext, withoutAnswers } from "./served-context.ts";

/** Shows what fills the context of a session. */
export async function showContext(
	command: Extract<Command, { name: "context" }>,
	io: CommandIo,
): Promise<number> {
	if (command.server !== undefined) {
		print(await servedContext(command.server, command.session), command, io);
		return exitCodes.completed;
	}
	const host = await openExisting(command);
	try {
		const key = host === undefined ? command.session : await findSession(host, command.session);
		if (host === undefined || (await host.journal.head(key)) === undefined)
			throw new UsageError(
				`There is no session "${command.session}" in ${shownDatabase(command.db)}. See: holdfast sessions.`,
			);
		const entries = await host.journal.read(key);
		if (!entries.some(({ fact }) => fact.kind === "assistant")) throw withoutAnswers(command.session);
		const { context: history, system } = foldEntries(entries);
		const messages = history.toArray() as readonly AnyMessage[];
		const shown = summarised(messages, await chatSummaryOf(host, key)) as readonly AnyMessage[];
		const context = contextOf(messages, cacheReportOf(entries), shown, system && textOfSystem(system.system));
		print(context, command, io);
		return exitCodes.completed;
	} finally {
		await host?.close();
	}
}

function print(
	context: ReturnType<typeof contextOf>,
	{ json, session }: Extract<Command, { name: "context" }>,
	io: CommandIo,
): void {
	const { tokens, sections, cache, advice } = context;
	const shown = json
		? JSON.stringify({ type: "context", tokens, sections, cache, advice })
		: [`context of session ${oneLine(session, 100)}`, "", ...contextLines(context)].join("\n");
	io.stdout.write(`${shown}\n`);
}
