// The package ships no types; these cover the used part.
declare module "amaro" {
	const amaro: {
		transformSync(source: string, options: { readonly mode: "strip-only" }): { readonly code: string };
	};
	export default amaro;
}
