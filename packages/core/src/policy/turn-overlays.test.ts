// The positions of a turn's overlays among the messages, and the cost of placing them.
import { AssistantMessage, UserMessage } from "@holdfast/upp";
import { expect, test } from "vitest";
import { expectProportion } from "../../../../test/shared/in-proportion.fixture.ts";
import { TurnOverlays } from "./turn-overlays.ts";

const said = (text: string): UserMessage => new UserMessage(text, { id: text });
const texts = (messages: readonly { readonly text: string }[]): string[] => messages.map(({ text }) => text);

test("overlays keep their order even if the messages before them were removed", () => {
	const overlays = new TurnOverlays("input");
	const past = [said("past"), said("input")];
	overlays.accept(said("a"));
	overlays.accept(said("b"));
	const first = overlays.view(past);
	expect(texts(first as UserMessage[])).toEqual(["past", "a", "b", "input"]);
	const answer = new AssistantMessage("answer", undefined, { id: "answer" });
	overlays.accept(said("c"));
	overlays.accept(said("d"));
	const second = [...past, answer];
	expect(texts(overlays.view(second) as UserMessage[])).toEqual([
		"past",
		"a",
		"b",
		"input",
		"answer",
		"c",
		"d",
	]);
	overlays.accept(said("e"));
	const third = [...second, said("more")];
	expect(texts(overlays.view(third) as UserMessage[])).toEqual([
		...["past", "a", "b", "input", "answer", "c", "d", "more", "e"],
	]);
	const summarised = [said("summary"), said("more")];
	expect(texts(overlays.view(summarised) as UserMessage[])).toEqual([
		"summary",
		"more",
		"e",
		"a",
		"b",
		"c",
		"d",
	]);
});

test("with an overlay at each of many steps, reading all of them takes time in proportion", async () => {
	await expectProportion(2_000, (count) => {
		const overlays = new TurnOverlays("0");
		const messages: UserMessage[] = [];
		// One overlay after each message, placed without scanning the earlier ones.
		for (let at = 0; at < count; at++) {
			messages.push(said(`${at}`));
			overlays.accept(said(`after ${at}`));
			overlays.view(messages.slice(-1));
		}
		return () => {
			for (let look = 0; look < 20; look++) expect(overlays.view(messages)).toHaveLength(2 * count);
		};
	});
});
