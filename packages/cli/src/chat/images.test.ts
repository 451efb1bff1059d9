/** Images in messages: what is an image, what is too large, and what a model cannot see. */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { offline } from "../offline/index.ts";
import { takesImages } from "../work/index.ts";
import { type ChosenImages, clipboardImage, imageType, keepImage, pastedText } from "./images.ts";
import { withFiles } from "./mentions.ts";

const png = Buffer.from(
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
	"base64",
);

function folder(): string {
	const dir = temporaryFolder();
	mkdirSync(join(dir, "my shots"));
	writeFileSync(join(dir, "a.png"), png);
	writeFileSync(join(dir, "my shots/b.png"), png);
	writeFileSync(join(dir, "fake.png"), "no image");
	writeFileSync(join(dir, "huge.jpg"), Buffer.alloc(5_000_001));
	return dir;
}

test("a mentioned image of the folder is attached as one", async () => {
	const dir = folder();
	const { text, images, problems } = await withFiles(`What is on @a.png and @"${dir}/my shots/b.png"?`, dir);
	expect(problems).toEqual([]);
	expect(images.map(({ path }) => path)).toEqual(["a.png", `${dir}/my shots/b.png`]);
	expect(images[0]?.image).toEqual({
		type: "image",
		mimeType: "image/png",
		source: { type: "base64", data: png.toString("base64") },
	});
	expect(text).toBe(`What is on @a.png and @"${dir}/my shots/b.png"?`);
});

test("an image outside of the folder is not sent because a text mentions it, by a path or by a link", async () => {
	const [dir, other] = [folder(), folder()];
	symlinkSync(join(other, "a.png"), join(dir, "link.png"));
	const paths = [join(other, "a.png"), `../${basename(other)}/a.png`, "link.png"];
	const { images, problems } = await withFiles(paths.map((path) => `@${path}`).join(" "), dir);
	expect(images).toEqual([]);
	expect(problems).toEqual(
		paths.map(
			(path) =>
				`"${path}" was not sent: it is outside the folder. Copy it into the folder, or drop the file on a chat without --plain.`,
		),
	);
});

test("an image outside of the folder is sent if the user dropped it on the terminal", async () => {
	const [dir, other] = [folder(), folder()];
	const chosen = new Map();
	const dropped = pastedText(join(other, "my shots/b.png"), dir, chosen);
	const said = `${dropped} and @${join(other, "a.png")}`;
	const { images, problems } = await withFiles(said, dir, "all files", "images", chosen);
	expect(images.map(({ path }) => path)).toEqual([join(other, "my shots/b.png")]);
	expect(problems).toHaveLength(1);
	// Part of a pasted text is no choice.
	pastedText(`See @${join(other, "a.png")}`, dir, chosen);
	pastedText(`@${join(other, "a.png")}`, dir, chosen);
	expect([...chosen.keys()]).toEqual([join(other, "my shots/b.png")]);
});

test("a file that is no image, too large or missing is not sent, with the reason", async () => {
	const { images, problems } = await withFiles("@fake.png @huge.jpg @missing.gif", folder());
	expect(images).toEqual([]);
	expect(problems).toEqual([
		'"fake.png" is not a PNG, JPEG, GIF or WebP image.',
		'"huge.jpg" is larger than 5 MB, the limit for images. Make it smaller.',
		'"missing.gif" cannot be read.',
	]);
});

test("a model that takes no images gets none, and the user is told", async () => {
	expect(takesImages(offline)).toBe(false);
	expect(takesImages({ capabilities: { imageInput: true } })).toBe(true);
	const { images, problems } = await withFiles("See @a.png", folder(), "images only", "no images");
	expect(images).toEqual([]);
	expect(problems).toEqual(['"a.png" was not sent: the model does not accept images.']);
});

test("the path of an image that is dropped on the terminal becomes its mention", async () => {
	const dir = folder();
	const [plain, spaced] = [join(dir, "a.png"), join(dir, "my shots/b.png")];
	expect(pastedText(plain, dir, new Map())).toBe(`@${plain} `);
	for (const dropped of [
		`'${spaced}'`,
		`"${spaced}"`,
		spaced.replaceAll(" ", "\\ "),
		`${pathToFileURL(spaced)}`,
	])
		expect(pastedText(dropped, dir, new Map())).toBe(`@"${spaced}" `);
	const quoted = join(dir, "it's.png");
	writeFileSync(quoted, png);
	const message = pastedText(quoted, dir, new Map());
	expect(message).toBe(`@"${quoted}" `);
	expect((await withFiles(message, dir)).images.map(({ path }) => path)).toEqual([quoted]);
	for (const text of [join(dir, "missing.png"), "a.png", "/etc/hosts", `see ${plain}`, `${plain}\nmore`, ""])
		expect(pastedText(text, dir, new Map())).toBe(text);
});

test("images are known by their first bytes", () => {
	expect(imageType(png)).toBe("image/png");
	expect(imageType(Buffer.from("GIF89a"))).toBe("image/gif");
	expect(imageType(Buffer.from("RIFF1234WEBP"))).toBe("image/webp");
	expect(imageType(Buffer.from([0xff, 0xd8, 0xff, 0xe0]))).toBe("image/jpeg");
	expect(imageType(Buffer.from("<svg>"))).toBeUndefined();
});

test.skipIf(process.platform === "darwin")(
	"the clipboard is read with the tool of the desktop, if it has one",
	async () => {
		const programs = temporaryFolder();
		const script = (name: string, text: string): void =>
			writeFileSync(join(programs, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
		script("xclip", `/bin/cat '${join(folder(), "a.png")}'`);
		const found = await clipboardImage({ DISPLAY: ":0", PATH: programs });
		expect(found).toEqual({ bytes: png });
		const [dir, chosen]: [string, ChosenImages] = [folder(), new Map()];
		writeFileSync(join(dir, "clipboard-1.png"), "another file");
		const mention = keepImage(png, dir, chosen);
		expect(mention).toBe("@clipboard-2.png ");
		const { images, problems } = await withFiles(`See ${mention}`, dir, "all files", "images", chosen);
		expect([images.length, problems]).toEqual([1, []]);
		expect(existsSync(join(dir, "clipboard-2.png"))).toBe(false);
		for (let count = 0; count < 50; count++) keepImage(png, dir, chosen);
		expect(chosen.size).toBe(20);
		script("xclip", "echo Error: target image/png not available >&2; exit 1");
		expect(await clipboardImage({ DISPLAY: ":0", PATH: programs })).toEqual({
			problem: "The clipboard has no image.",
		});
		expect(await clipboardImage({ WAYLAND_DISPLAY: "w", PATH: programs })).toEqual({
			problem: "Install wl-paste to paste images, or mention an image file with @PATH.",
		});
		expect(await clipboardImage({ PATH: programs })).toMatchObject({
			problem: expect.stringContaining("@PATH"),
		});
	},
);
