// The templates of new projects, and how a folder is made of one.
export { type Template, type TemplateName, templates } from "./templates.ts";
export { type WriteTemplateOptions, type WrittenTemplate, writeTemplate } from "./write-template.ts";
