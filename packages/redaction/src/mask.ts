// Creates masks, and recognises existing ones.

const types = [
	"email",
	"phone",
	"card",
	"api-key",
	"bearer-token",
	"jwt",
	"private-key",
	"password",
	"token",
	"secret",
	"depth",
] as const;

/** The type of the hidden value; `depth`: it was nested too deep to be examined. */
export type MaskType = (typeof types)[number];

/** The source of a pattern for a mask, including those of filters and providers. */
export const maskPattern: string = `\\[REDACTED:(?:${[...types, "filtered", "key"].join("|")})\\]`;

const wholeMask = new RegExp(`^${maskPattern}$`);

const masks = new Map(types.map((type) => [type, `[REDACTED:${type}]`]));

export function maskOf(type: MaskType): string {
	return masks.get(type) as string;
}

export function isMask(text: string): boolean {
	return text.length < 40 && wholeMask.test(text);
}
