// Requirements of all clients with persistent storage: the contract, with and without encryption, and the stored form.
import { createDecipheriv, randomBytes } from "node:crypto";
import { memoryContract } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Encryption } from "./contract/index.ts";
import { encryption, type World } from "./worlds.fixture.ts";

type Make = () => Promise<Pick<World, "open" | "end">>;

/** The contract, over a place that is encrypted or not. */
export function contractTests(name: string, make: Make): void {
	const ways = [
		{ name, given: { unencrypted: true } },
		{ name: `${name}, encrypted`, given: { encryption } },
	];
	for (const { name, given } of ways) {
		const world = async () => {
			const { open, end } = await make();
			return { clients: (options: object = {}) => open({ ...options, ...given }), end };
		};
		for (const { name: title, run } of memoryContract({ name, make: world })) test(title, run);

		test(`${name}: all JSON values are read as written, under any keys [RUN-097] [RUN-100]`, async () => {
			const { open, end } = await make();
			const { database, memory, close } = open(given);
			const text = fc.oneof(fc.string({ unit: "binary", maxLength: 20 }), fc.string({ maxLength: 20 }));
			const json = fc.jsonValue({ stringUnit: "binary" });
			try {
				await fc.assert(
					fc.asyncProperty(text, text, json, async (space, key, value) => {
						// JSON has no negative zero.
						const kept = JSON.parse(JSON.stringify(value));
						await database.write(space, key, value);
						await memory.append(space, value, { id: key });
						expect(await database.read(space, key)).toStrictEqual(kept);
						expect((await memory.read(space, { order: "desc" })).length).toBeGreaterThan(0);
					}),
					{ numRuns: 60 },
				);
			} finally {
				await close();
				await end();
			}
		});
	}
}

const key = (): string => randomBytes(32).toString("base64");
const keyOfTests = Buffer.from(String(encryption.keys.k1), "base64");

/** What is stored, and what happens when keys change or the data is altered. */
export function storedTests(name: string, make: () => Promise<World>): void {
	const inWorld = async (work: (world: World) => Promise<void>): Promise<void> => {
		const world = await make();
		try {
			await work(world);
		} finally {
			await world.end();
		}
	};

	test(`${name}: without a key no client is created, unless encryption is switched off [RUN-135]`, () =>
		inWorld(async (world) => {
			expect(() => world.open({})).toThrow(expect.objectContaining({ code: "ENCRYPTION_KEY_REQUIRED" }));
			expect(() => world.open({ unencrypted: false })).toThrow(
				expect.objectContaining({ code: "ENCRYPTION_KEY_REQUIRED" }),
			);
			for (const wrong of [
				{ keys: { a: "short" }, current: "a" },
				{ keys: { a: key() }, current: "b" },
				{ keys: { "a:b": key() }, current: "a:b" },
			])
				expect(() => world.open({ encryption: wrong })).toThrow(
					expect.objectContaining({ code: "ENCRYPTION_KEY_INVALID" }),
				);
			const clients = world.open({ unencrypted: true });
			await clients.database.write("c", "k", "plainly");
			expect((await world.raw()).includes("plainly")).toBe(true);
			await clients.close();
		}));

	test(`${name}: with a key, no stored byte reveals a value, its words or its vector [RUN-135]`, () =>
		inWorld(async (world) => {
			const embed = async (): Promise<number[][]> => [[0.6, 0.8, 0]];
			const clients = world.open({ encryption, embed });
			await clients.memory.append("s", { secret: "Quetzalcoatl 4711" });
			await clients.database.write("c", "k", ["Quetzalcoatl"]);
			await clients.database.write("c", "k", ["Quetzalcoatl again"]);
			expect(await clients.memory.search("quetzalcoatl")).toHaveLength(1);
			const whileOpen = await world.raw();
			await clients.close();
			for (const raw of [whileOpen, await world.raw()]) {
				expect(raw.length).toBeGreaterThan(100);
				const text = raw.toString("latin1").toLowerCase();
				for (const part of ["quetzal", "4711", "secret", "again"]) expect(text).not.toContain(part);
				for (const number of [0.6, 0.8]) {
					const bytes = Buffer.from(Float32Array.of(number).buffer);
					expect(raw.includes(Buffer.concat([bytes, Buffer.from(Float32Array.of(0.8).buffer)]))).toBe(false);
				}
			}
		}));

	test(`${name}: each value is sealed with AES-256-GCM and its own nonce; with one changed bit, or another key, it is rejected [RUN-136]`, () =>
		inWorld(async (world) => {
			const { database, close } = world.open({ encryption });
			await database.write("c", "a", "same");
			await database.write("c", "b", "same");
			const bodies = await world.bodies();
			const [a, b] = [bodies.get("a") as string, bodies.get("b") as string];
			expect(a.startsWith("holdfast:1:k1:")).toBe(true);
			const bytesOf = (body: string): Buffer => Buffer.from(body.slice("holdfast:1:k1:".length), "base64");
			expect(bytesOf(a).subarray(0, 12)).not.toEqual(bytesOf(b).subarray(0, 12));
			const opening = createDecipheriv("aes-256-gcm", keyOfTests, bytesOf(a).subarray(0, 12));
			opening.setAAD(Buffer.from('["collection","c","a","body"]'));
			opening.setAuthTag(bytesOf(a).subarray(12, 28));
			const opened = [opening.update(bytesOf(a).subarray(28)), opening.final()];
			expect(Buffer.concat(opened).toString()).toBe('"same"');
			const denied = expect.objectContaining({ code: "DECRYPT_FAILED" });
			await world.replace("a", b);
			await expect(database.read("c", "a")).rejects.toEqual(denied);
			await expect(database.query("c", {})).rejects.toEqual(denied);
			await expect(database.search("same")).rejects.toEqual(denied);
			for (const at of [0, 11, 12, 27, 28, bytesOf(a).length - 1]) {
				const altered = bytesOf(a);
				altered[at] = (altered[at] as number) ^ 1;
				await world.replace("a", `holdfast:1:k1:${altered.toString("base64")}`);
				await expect(database.read("c", "a")).rejects.toEqual(denied);
			}
			for (const wrong of ["holdfast:1:k1:", "holdfast:1:k1", "holdfast:1:k9:AAAA", JSON.stringify("same")]) {
				await world.replace("a", wrong);
				await expect(database.read("c", "a")).rejects.toEqual(denied);
			}
			await world.replace("a", a);
			expect(await database.read("c", "a")).toBe("same");
			const others = world.open({ encryption: { keys: { k1: key() }, current: "k1" } });
			await expect(others.database.read("c", "a")).rejects.toEqual(denied);
			const plain = world.open({ unencrypted: true });
			await expect(plain.database.read("c", "a")).rejects.toEqual(denied);
			await Promise.all([close(), others.close(), plain.close()]);
		}));

	test(`${name}: a damaged value is an error that names it, and can be overwritten`, () =>
		inWorld(async (world) => {
			const { database, close } = world.open({ unencrypted: true });
			const damaged = expect.objectContaining({ code: "RECORD_DAMAGED", retryable: false });
			for (const body of ["", "{", "{'a': 1}", "[1,]", "undefined", `${"[".repeat(50_000)}`]) {
				await database.write("c", "a", "find me");
				await world.replace("a", body);
				await expect(database.read("c", "a")).rejects.toEqual(damaged);
				await expect(database.read("c", "a")).rejects.toThrow(/"c","a"/);
				await expect(database.query("c", {})).rejects.toEqual(damaged);
				await database.write("c", "a", "whole");
				expect(await database.query("c", {})).toEqual(["whole"]);
			}
			await close();
		}));

	test(`${name}: after a rotation old values are readable, and after reencrypt the old key is no longer needed [RUN-137]`, () =>
		inWorld(async (world) => {
			const [old, fresh] = [key(), key()];
			const embed = async (): Promise<number[][]> => [[1, 0]];
			const before: Encryption = { keys: { old }, current: "old" };
			const first = world.open({ encryption: before, embed });
			for (let at = 0; at < 5; at++) {
				await first.memory.append("s", at);
				await first.database.write("c", `${at}`, at);
			}
			await first.close();
			const rotating = world.open({ encryption: { keys: { old, fresh }, current: "fresh" }, embed });
			await rotating.database.write("c", "new", "new");
			expect((await world.bodies()).get("new")).toMatch(/^holdfast:1:fresh:/);
			expect(await rotating.memory.read("s")).toEqual([0, 1, 2, 3, 4]);
			expect(await rotating.database.read("c", "3")).toBe(3);
			const early = world.open({ encryption: { keys: { fresh }, current: "fresh" } });
			await expect(early.memory.read("s")).rejects.toEqual(
				expect.objectContaining({ code: "DECRYPT_FAILED" }),
			);
			await early.close();
			expect(await rotating.reencrypt()).toBe(10);
			expect(await rotating.reencrypt()).toBe(0);
			await rotating.close();
			const last = world.open({ encryption: { keys: { fresh }, current: "fresh" }, embed });
			expect(await last.memory.read("s")).toEqual([0, 1, 2, 3, 4]);
			expect(await last.database.query("c", {})).toEqual([0, 1, 2, 3, 4, "new"]);
			expect(await last.memory.search("anything")).toHaveLength(5);
			expect([...(await world.bodies()).values()].every((body) => body.startsWith("holdfast:1:fresh:"))).toBe(
				true,
			);
			await last.close();
		}));

	test(`${name}: unencrypted values are readable while they are converted, and no longer stored afterwards [RUN-137]`, () =>
		inWorld(async (world) => {
			const plain = world.open({ unencrypted: true, embed: async () => [[1, 0]] });
			await plain.memory.append("s", "Quetzalcoatl");
			await expect(plain.reencrypt()).rejects.toEqual(
				expect.objectContaining({ code: "ENCRYPTION_KEY_REQUIRED" }),
			);
			await plain.close();
			const converting = world.open({ encryption: { ...encryption, acceptPlain: true } });
			expect(await converting.memory.read("s")).toEqual(["Quetzalcoatl"]);
			expect(await converting.reencrypt()).toBe(1);
			await converting.close();
			expect((await world.raw()).toString("latin1").toLowerCase()).not.toContain("quetzal");
			const encrypted = world.open({ encryption });
			expect(await encrypted.memory.read("s")).toEqual(["Quetzalcoatl"]);
			await encrypted.close();
		}));

	test(`${name}: no stored byte contains what purge deleted [RUN-132]`, () =>
		inWorld(async (world) => {
			let now = 1_000;
			const clients = world.open({ unencrypted: true, retention: { maxAgeMs: 10 }, now: () => now });
			for (let at = 0; at < 50; at++)
				await clients.memory.append("s", `Quetzalcoatl ${at} ${"x".repeat(at * 20)}`);
			now += 50;
			await clients.memory.append("s", "tortoise");
			expect((await world.raw()).toString("latin1").toLowerCase()).toContain("quetzal");
			expect(await clients.memory.search("quetzalcoatl")).toEqual([]);
			expect(await clients.purge()).toBe(50);
			expect((await world.raw()).toString("latin1").toLowerCase()).not.toContain("quetzal");
			expect(await clients.memory.read("s")).toEqual(["tortoise"]);
			expect(await clients.memory.search("tortoise")).toHaveLength(1);
			await clients.close();
		}));
}
