export * from "./basics";
export * from "./indent";
export * from "./json";
export * from "./list";
export * from "./overlay";
export * from "./seen";
export * from "./snippet";
