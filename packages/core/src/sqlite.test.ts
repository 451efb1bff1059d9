import { join } from "node:path";
import { append, begin, note, notes } from "@holdfast/testing/cases";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/shared/temporary-folder.fixture.ts";
import { sqliteHost } from "./sqlite.ts";

test("a host created from a path keeps its sessions for the next host of that path", async () => {
	const folder = temporaryFolder();
	const path = join(folder, "sessions.db");
	const host = sqliteHost(path);
	await append(await begin(host.journal, "s"), "run-1", note("kept"));
	await host.close();
	await host.close();
	const next = sqliteHost({ path, durability: "power" });
	expect(notes(await next.journal.read("s"))).toEqual(["kept"]);
	await next.close();
});

test.each([
	[{ path: 1 }, "path"],
	[{ path: "never.db", durability: "full" }, "durability"],
	[{ path: "never.db", leaseTtlMs: 0 }, "leaseTtlMs"],
	[{ path: "never.db", maxFileSize: Number.NaN }, "maxFileSize"],
])("an invalid option is named: %j", (options, option) => {
	expect(() => sqliteHost(options as never)).toThrow(
		expect.objectContaining({ code: "invalid_option", data: { option } }),
	);
});

test.each([[undefined], [null], [5]])(
	"a host of %s is a TypeError that lists the accepted values",
	(options) => {
		expect(() => sqliteHost(options as never)).toThrow(TypeError);
		expect(() => sqliteHost(options as never)).toThrow(
			"sqliteHost() takes the path of a file, or options: { path }.",
		);
	},
);
