// The templates of new projects, and the function that writes them.
export { type Template, type TemplateName, templates } from "./templates.ts";
export { type WriteTemplateOptions, type WrittenTemplate, writeTemplate } from "./write-template.ts";
