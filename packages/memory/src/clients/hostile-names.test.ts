// Names that look like parts of a store's keys, patterns or commands are ordinary names: each returns exactly what was
// written with it.
import { expect, test } from "vitest";
import { noRedis } from "../redis-server.fixture.ts";
import { redisWorld, sqliteWorld, type World } from "../worlds.fixture.ts";

const names = [
	...["u", "u ", " u", "U", "u:", ":u", "u\n", "u\r\nDEL x", "ü", "u\u0308", "\u202eu", "{u}", "$1", "%00"],
	...[
		"u\u0000",
		"u\u0000x",
		"u\ud800",
		"u\ud801",
		"u\ufffd",
		"\\u0000",
		"\\ud800",
		"*",
		"?",
		"[u]",
		"^",
		"!",
	],
	...["__proto__", "constructor", "rows:value:u", "entry:u", "spaces:entry", "seq", "'; --", '"u"', "../u"],
];

const worlds: readonly (readonly [name: string, make: () => Promise<World>, isLeftOut: boolean])[] = [
	["Redis", redisWorld, noRedis !== undefined],
	["SQLite", sqliteWorld, false],
];

for (const [store, make, isLeftOut] of worlds)
	test.skipIf(isLeftOut)(
		`${store}: streams, collections and keys with hostile names stay separate`,
		async () => {
			const world = await make();
			const clients = world.open({ unencrypted: true });
			for (const name of names) {
				await clients.memory.append(name, name);
				await clients.database.write(name, name, name);
				await clients.database.write("all", name, name);
			}
			for (const name of names) {
				expect(await clients.memory.read(name), name).toEqual([name]);
				expect(await clients.database.read(name, name), name).toBe(name);
				expect(await clients.database.read("all", name), name).toBe(name);
			}
			await clients.close();
			await world.end();
		},
	);
