// A labelled set of strings: ones to mask, and look-alikes to keep. All are generated from a seed.

export interface Labelled {
	readonly text: string;
	/** What must be hidden afterwards; undefined for a look-alike, which stays unchanged. */
	readonly hidden?: string;
	readonly kind: string;
}

/** Numbers from 0 to 1, the same for the same seed. */
export function randomOf(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

const lower = "abcdefghijklmnopqrstuvwxyz";
const digits = "0123456789";
const word = lower + lower.toUpperCase() + digits;
const hex = "0123456789abcdef";

/**
 * Mobile or landline numbers of twenty countries, in international format and, if it is unmistakable, in national format.
 * `#` is a digit.
 */
const phones: Readonly<Record<string, readonly string[]>> = {
	US: [
		"+1 202 555 0###",
		"+1-415-55#-2###",
		"(212) 55#-2###",
		"415-55#-2###",
		"312.55#.2###",
		"+1415552####",
	],
	GB: ["+44 20 7946 0###", "+44 7700 900###", "020 7946 0###", "07700 900###"],
	DE: ["+49 30 12345##", "+49 (0)30 12345##", "030 / 12345##", "+49 151 2345####"],
	FR: ["+33 6 12 34 5# ##", "06 12 34 5# ##", "01.42.68.5#.##", "0033 6 12 34 5# ##"],
	IT: ["+39 06 698 3####", "+39 347 123 4###"],
	ES: ["+34 612 34 5# ##", "+34 912 345 ###"],
	NL: ["+31 6 1234 5###", "06-1234 5###", "+31 20 123 4###"],
	BE: ["+32 470 12 3# ##", "+32 2 511 1# ##"],
	CH: ["+41 79 123 4# ##", "079 123 4# ##"],
	AT: ["+43 664 123 4###", "+43 1 5123###"],
	SE: ["+46 70 123 4# ##", "070-123 4# ##"],
	PL: ["+48 512 345 ###", "+48 22 123 4# ##"],
	RU: ["+7 495 123-4#-##", "8 (495) 123-4#-##"],
	IN: ["+91 98765 4####", "+91-22-2345-6###"],
	CN: ["+86 138 1234 5###", "138 1234 5###"],
	JP: ["+81 90-1234-5###", "090-1234-5###", "03-1234-5###"],
	KR: ["+82 10-1234-5###", "010-1234-5###"],
	AU: ["+61 412 345 ###", "0412 345 ###", "(02) 9876 5###"],
	BR: ["+55 11 91234-5###", "(11) 91234-5###"],
	MX: ["+52 55 1234 5###", "tel: 55 1234 5###"],
};

/** Keys of vendors: the prefix, the alphabet, the length. */
const keys: readonly (readonly [vendor: string, prefix: string, alphabet: string, length: number])[] = [
	["OpenAI", "sk-proj-", word, 48],
	["Anthropic", "sk-ant-api03-", `${word}-_`, 93],
	["AWS", "AKIA", `${lower.toUpperCase()}234567`, 16],
	["GitHub", "ghp_", word, 36],
	["GitHub, fine-grained", "github_pat_", word, 82],
	["GitLab", "glpat-", word, 20],
	["Slack", "xoxb-", `${digits}`, 12],
	["Stripe", "sk_live_", word, 24],
	["Google", "AIza", word, 35],
	["SendGrid", "SG.", word, 22],
	["Twilio", "SK", hex, 32],
	["npm", "npm_", word, 36],
	["Hugging Face", "hf_", word, 34],
	["DigitalOcean", "dop_v1_", hex, 64],
	["Shopify", "shpat_", hex, 32],
	["PyPI", "pypi-", word, 120],
	["Databricks", "dapi", hex, 32],
	["Groq", "gsk_", word, 52],
	["Mailgun", "key-", hex, 32],
	["HashiCorp Vault", "hvs.", word, 90],
];

const cards = [
	"4###############",
	"51##############",
	"2221############",
	"34#############",
	"37#############",
];
const otherCards = ["6011############", "3530############", "36############", "62##############"];

/** At least 2,000 strings, half of them look-alikes. */
export function labelledSet(seed: number): readonly Labelled[] {
	const random = randomOf(seed);
	const below = (limit: number): number => Math.floor(random() * limit);
	const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T;
	const some = (alphabet: string, length: number): string =>
		Array.from({ length }, () => alphabet[below(alphabet.length)]).join("");
	const filled = (pattern: string): string => pattern.replace(/#/g, () => some(digits, 1));
	const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
	const name = (): string => some(lower, 3 + below(7));
	const sentences = [
		"Write to % today.",
		"%",
		"It is %, and no other.",
		'value: "%"',
		"(%)",
		"see %\nand more",
		"<%>",
		"a,%,b",
	];
	const set: Labelled[] = [];
	const secret = (kind: string, hidden: string, sentence = pick(sentences)): void => {
		set.push({ kind, hidden, text: sentence.replace("%", () => hidden) });
	};
	const alike = (kind: string, text: string): void => {
		set.push({ kind, text: pick(sentences).replace("%", () => text) });
	};

	for (let count = 0; count < 200; count++) {
		const local = pick([
			name(),
			`${name()}.${name()}`,
			`${name()}+${name()}`,
			`${name()}_${below(99)}`,
			`${some(lower, 1)}.${name()}`,
		]);
		const domain = pick([
			`${name()}.com`,
			`${name()}.co.uk`,
			`mail.${name()}.org`,
			`${name()}-${name()}.io`,
			"bücher.de",
			`${name()}.museum`,
		]);
		secret("email", `${local}@${domain}`);
	}
	for (const [country, patterns] of Object.entries(phones))
		for (let count = 0; count < 12; count++)
			secret(`phone ${country}`, filled(pick(patterns)).replace(/^tel: /, ""), "Call %, please.");
	for (let count = 0; count < 150; count++) {
		const plain = withLuhn(filled(pick([...cards, ...otherCards])));
		const parted = plain.length === 16 ? plain.replace(/(\d{4})(?=\d)/g, `$1${pick([" ", "-"])}`) : plain;
		secret("card", pick([plain, parted.includes(" ") || parted.includes("-") ? sameGap(parted) : parted]));
	}
	for (const [vendor, prefix, alphabet, length] of keys)
		for (let count = 0; count < 15; count++) {
			const tail =
				vendor === "Slack"
					? `-${some(digits, 12)}-${some(word, 24)}`
					: vendor === "SendGrid"
						? `.${some(word, 43)}`
						: "";
			secret(`key ${vendor}`, prefix + some(alphabet, length) + tail);
		}
	for (let count = 0; count < 80; count++) {
		const head = base64url({ alg: pick(["HS256", "RS256", "ES256"]), typ: "JWT", kid: name() });
		secret(
			"jwt",
			`${head}.${base64url({ sub: name(), iat: 1_700_000_000 + count })}.${some(`${word}-_`, 43)}`,
		);
	}
	for (let count = 0; count < 40; count++) {
		const type = pick(["RSA ", "EC ", "", "OPENSSH ", "ENCRYPTED "]);
		const lines = Array.from({ length: 4 + below(20) }, () => some(`${word}+/`, 64));
		const gap = pick(["\n", "\r\n", "\\n"]);
		secret(
			"private key",
			[`-----BEGIN ${type}PRIVATE KEY-----`, ...lines, `-----END ${type}PRIVATE KEY-----`].join(gap),
		);
	}
	for (let count = 0; count < 60; count++)
		secret(
			"bearer",
			some(word, 40),
			pick(["Authorization: Bearer %", "curl -H 'authorization: bearer %'", "bearer %"]),
		);
	for (let count = 0; count < 80; count++) {
		const value = `${name()}${below(999)}`;
		secret(
			"password",
			value,
			pick([
				'{"password":"%"}',
				"password=%&x=1",
				'"db_password": "%"',
				"DB_PASSWORD=%",
				"userPassword: %",
				'{\\"passwd\\":\\"%\\"}',
				"pwd=%;",
				"clientSecret: '%'",
			]),
		);
	}

	for (let count = 0; count < 110; count++) {
		alike("uuid", `${some(hex, 8)}-${some(hex, 4)}-4${some(hex, 3)}-a${some(hex, 3)}-${some(hex, 12)}`);
		alike(
			"order number",
			pick([
				`ORD-${some(digits, 10)}`,
				`#${some(digits, 7)}`,
				`INV-2024-${some(digits, 6)}`,
				some(digits, 10),
				some(digits, 12),
				`${some(digits, 3)}-${some(digits, 7)}-${some(digits, 7)}`,
			]),
		);
		alike(
			"date",
			pick([
				"2024-01-02T03:04:05.678Z",
				`0${1 + below(9)}.0${1 + below(9)}.20${some(digits, 2)} 10:3${below(9)}`,
				`20${some(digits, 2)}-0${1 + below(9)}-1${below(9)}`,
				`17${some(digits, 11)}`,
				`0${1 + below(9)}/1${below(9)}/20${some(digits, 2)}`,
			]),
		);
		alike(
			"version",
			pick([
				`${below(20)}.${below(40)}.${below(99)}`,
				`v${below(9)}.${below(9)}.${below(9)}-rc.${below(9)}`,
				`lib@${below(9)}.${below(9)}.${below(9)}`,
				`10.${below(255)}.${below(255)}.${below(255)}`,
				`@scope/${name()}@^${below(9)}.0.0`,
			]),
		);
		alike(
			"hash",
			pick([
				some(hex, 40),
				some(hex, 64),
				some(hex, 7),
				`sha256:${some(hex, 64)}`,
				`sha512-${some(`${word}+/`, 86)}==`,
			]),
		);
		alike(
			"iban",
			`DE${some(digits, 2)} ${some(digits, 4)} ${some(digits, 4)} ${some(digits, 4)} ${some(digits, 4)} ${some(digits, 2)}`,
		);
		alike(
			"code",
			pick([
				"const password = readPassword();",
				"function login(password: string, token?: string) {}",
				"if (token === undefined) return;",
				"tokens: 512, maxTokens: 1024",
				"import { secret } from './secret.ts';",
				"git@github.com:owner/repo.git",
				"logo@2x.png",
				"password: required",
				"let total = items[3] + 0.1234567890123456;",
				"type Keys = { apiKey: string };",
				"await login(user, password);",
				"process.env.API_KEY",
				"token = next();",
			]),
		);
		alike(
			"prose",
			pick([
				"The bearer of this letter is welcome here.",
				"My password is too long to type.",
				"A token of gratitude: flowers.",
				"It starts with -----BEGIN PRIVATE KEY----- and so on.",
				"sk-this-is-a-long-name-of-a-theme",
				"The secret: work hard.",
				"Use AKIA as the prefix.",
				"eyJ is how it starts.",
				"Mention @ann and @bob.",
				"between 100 200 300 400 and 500",
				"call it 12 or 13 times",
				"10 000 000 people in 2 400 towns",
				"a task-force-of-many-people-here",
			]),
		);
		alike(
			"long number",
			pick([
				`0.${some(digits, 16)}`,
				some(digits, 20),
				`${some(digits, 24)}`,
				notLuhn(filled("4###############")),
				`${below(99)},${some(digits, 3)},${some(digits, 3)}`,
				`${some(digits, 6)}-${some(digits, 2)}`,
			]),
		);
		alike(
			"measure",
			pick([
				`${below(999)}x${below(999)} px`,
				`${below(90)}.${some(digits, 6)}, -${below(90)}.${some(digits, 6)}`,
				`${below(12)}:${some(digits, 2)}:${some(digits, 2)}.${some(digits, 6)}`,
				`row ${below(99)} of ${below(9999)}`,
				`ISBN 978-3-16-${some(digits, 6)}-${below(9)}`,
			]),
		);
	}
	return set;
}

function sameGap(parted: string): string {
	const gap = parted.includes(" ") ? " " : "-";
	return parted.replace(/[ -]/g, gap);
}

function luhn(digits: string): number {
	return [...digits].reverse().reduce((sum, each, at) => {
		const doubled = at % 2 === 0 ? Number(each) : Number(each) * 2;
		return sum + (doubled > 9 ? doubled - 9 : doubled);
	}, 0);
}

function withLuhn(number: string): string {
	for (let last = 0; last < 10; last++) {
		const whole = number.slice(0, -1) + last;
		if (luhn(whole) % 10 === 0) return whole;
	}
	return number;
}

function notLuhn(number: string): string {
	return luhn(number) % 10 === 0 ? number.slice(0, -1) + ((Number(number.at(-1)) + 1) % 10) : number;
}
