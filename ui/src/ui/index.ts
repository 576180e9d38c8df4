export * from "./basics";
export * from "./json";
export * from "./list";
export * from "./overlay";
export * from "./snippet";
