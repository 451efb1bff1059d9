// The package ships no types; these are of what is used of it.
declare module "amaro" {
	const amaro: {
		transformSync(source: string, options: { readonly mode: "strip-only" }): { readonly code: string };
	};
	export default amaro;
}
