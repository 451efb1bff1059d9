import { memoryHost } from "holdfast";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { filesOf } from "./file-methods.ts";
import { thumbnailOf } from "./thumbnail.ts";

const files = filesOf(memoryHost(), "thread");

function picture(width: number, height: number) {
	return sharp({ create: { width, height, channels: 3, background: "#38a" } });
}

describe("a thumbnail", () => {
	test("is a smaller picture of a picture, for any name [SA-107]", async () => {
		for (const format of ["png", "jpeg", "webp", "gif", "tiff"] as const) {
			await files.writeFile(`wide.${format}`, await picture(1_200, 300).toFormat(format).toBuffer());
			await files.writeFile("named.txt", await picture(100, 2_000).toFormat(format).toBuffer());
			const wide = await thumbnailOf(files, `wide.${format}`);
			expect(await sharp(wide as ArrayBuffer).metadata()).toMatchObject({
				width: 256,
				height: 64,
				format: "webp",
			});
			expect(wide?.byteLength).toBeLessThan((await files.statFile(`wide.${format}`))?.size ?? 0);
			const high = await thumbnailOf(files, "named.txt");
			expect(await sharp(high as ArrayBuffer).metadata()).toMatchObject({ width: 13, height: 256 });
		}
	});

	test("is null for a file that is not a picture, is damaged, too large to decode, a folder or missing [SA-107]", async () => {
		const png = await picture(900, 900).png().toBuffer();
		const huge = Buffer.from(png);
		huge.writeUInt32BE(2 ** 20, 16);
		huge.writeUInt32BE(2 ** 20, 20);
		await files.writeFile("a.png", "no picture");
		await files.writeFile("cut.png", png.subarray(0, 40));
		await files.writeFile("huge.png", huge);
		await files.writeFile(
			"drawing.svg",
			'<svg xmlns="http://www.w3.org/2000/svg" width="900" height="900"/>',
		);
		await files.writeFile("empty.png", "");
		await files.mkdirFile("folder.png");
		for (const path of ["a.png", "cut.png", "huge.png", "drawing.svg", "empty.png", "folder.png", "none.png"])
			expect(await thumbnailOf(files, path), path).toBeNull();
	});
});
