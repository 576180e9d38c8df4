// What a script of Genkan sees. Put this file beside your scripts, and editors know it.
// A script is the body of an async function: await and return work at its top level.

/** The call that the script runs before or after. Changes to it take effect. */
declare let context: Context;
/** The same object as context. */
declare let ctx: Context;
/** The workflow's variables. They are frozen. */
declare const vars: Readonly<Record<string, any>>;
/** The parameters of this node or module. They are frozen. */
declare const params: Readonly<Record<string, any>>;

interface Context {
  request: {
    /** The MCP method, such as "tools/call". */
    method: string;
    /** Its parameters; of a call the tool's name, as this client sees it, and its arguments. */
    params: { name?: string; arguments?: Record<string, any>; [key: string]: any };
  };
  /** The result, after the call only. */
  response?: ToolResult & { tools?: Tool[]; [key: string]: any };
  metadata: {
    clientId: string;
    /** The names by which the server itself knows what is called, whoever calls it. */
    serverName?: string;
    toolName?: string;
    workflowId: string;
    nodeId: string;
    /** What the client says of itself. */
    clientInfo?: { name?: string; version?: string; [key: string]: any };
    [key: string]: any;
  };
  [key: string]: any;
}

interface ToolResult {
  content?: Content[];
  structuredContent?: any;
  isError?: boolean;
  [key: string]: any;
}

interface Content {
  type: "text" | "image" | "audio" | "resource" | "resource_link";
  text?: string;
  resource?: { uri: string; mimeType?: string; text?: string; blob?: string };
  [key: string]: any;
}

/** What a script may return. Nothing is the same as continue. */
interface Returned {
  /** respond answers the call with response, and deny refuses it. */
  action?: "continue" | "respond" | "deny";
  response?: Context["response"];
  request?: Context["request"];
  /** Why the call is refused. */
  reason?: string;
  /**
   * After how many seconds a refused call may be sent again unchanged. Without it the agent is
   * told not to.
   */
  retryAfter?: number;
}

interface Tool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: any;
  outputSchema?: any;
  annotations?: Record<string, any>;
  [key: string]: any;
}

/** The lines are kept with the run. */
declare const console: {
  log(...values: any[]): void;
  info(...values: any[]): void;
  warn(...values: any[]): void;
  error(...values: any[]): void;
  debug(...values: any[]): void;
};

/** Waits. The time does not count as the script's. */
declare function sleep(ms: number): Promise<void>;

/** Values that outlive the run, if the workflow says so (state.scope). */
declare const state: {
  get(key: string): Promise<any>;
  /**
   * ttl is how many seconds the value is kept; where the state is full, it may be deleted
   * before. Without it, the value is kept as long as the state: until state.ttlS, an hour by
   * default, after the last change of the state. If there is no room, nothing changes and it
   * throws.
   */
  set(key: string, value: any, ttl?: number): Promise<void>;
  /**
   * Adds to a number in one step and returns the sum. A new number is 0 before, and so is one
   * that was first added to ttl seconds ago. It is not deleted to make room for other values
   * of the same state. Of many sessions or clients, all values of those that were used
   * longest ago may be deleted.
   */
  add(key: string, by?: number, ttl?: number): Promise<number>;
  delete(key: string): Promise<void>;
};

/**
 * Replaces every text of a result: those in content, and every string in
 * structuredContent. Of another value it replaces every string. A function that
 * returns nothing leaves the text as it is. Returns the value, which was changed.
 */
declare function mapText<T>(value: T, fn: (text: string) => string | void): T;

/** Makes an HTTP request to a host that the workflow allows. */
declare function fetch(
  url: string,
  init?: { method?: string; headers?: Record<string, string>; body?: string },
): Promise<{
  status: number;
  ok: boolean;
  headers: Record<string, string> & { get(name: string): string | null; has(name: string): boolean };
  text(): Promise<string>;
  json(): Promise<any>;
}>;

/**
 * Calls a tool with the caller's rights. Returns its structuredContent, else its text
 * parsed as JSON if it is JSON, else its text. A tool's failure throws with its text.
 */
declare const call: {
  (tool: string, args?: Record<string, any>): Promise<any>;
  /** Returns the whole result. */
  raw(tool: string, args?: Record<string, any>): Promise<ToolResult>;
};
