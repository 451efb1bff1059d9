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

/** Shows what fills the context of a session. */
export async function showContext(
	command: Extract<Command, { name: "context" }>,
	io: CommandIo,
): Promise<number> {
	const host = await openExisting(command);
	try {
		const key = host === undefined ? command.session : await findSession(host, command.session);
		if (host === undefined || (await host.journal.head(key)) === undefined)
			throw new UsageError(
				`There is no session "${command.session}" in ${shownDatabase(command.db)}. See: holdfast sessions.`,
			);
		const entries = await host.journal.read(key);
		const { context: history, system } = foldEntries(entries);
		const messages = history.toArray() as readonly AnyMessage[];
		const shown = summarised(messages, await chatSummaryOf(host, key)) as readonly AnyMessage[];
		const context = contextOf(messages, cacheReportOf(entries), shown, system && textOfSystem(system.system));
		if (command.json) {
			const { tokens, sections, cache, advice } = context;
			io.stdout.write(`${JSON.stringify({ type: "context", tokens, sections, cache, advice })}\n`);
		} else
			io.stdout.write(
				`${[`context of session ${oneLine(command.session, 100)}`, "", ...contextLines(context)].join("\n")}\n`,
			);
		return exitCodes.completed;
	} finally {
		await host?.close();
	}
}
