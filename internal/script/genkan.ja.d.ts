// Genkan のスクリプトから見えるものです。スクリプトと同じフォルダーに置くと、エディターが認識します。
// スクリプトは async 関数の本体です。最上位で await と return を使えます。

/** スクリプトの前後の呼び出しです。変更すると反映されます。 */
declare let context: Context;
/** context と同じオブジェクトです。 */
declare let ctx: Context;
/** ワークフローの変数です。変更できません。 */
declare const vars: Readonly<Record<string, any>>;
/** このノードまたはモジュールのパラメーターです。変更できません。 */
declare const params: Readonly<Record<string, any>>;

interface Context {
  request: {
    /** MCP のメソッドです。例："tools/call" */
    method: string;
    /** パラメーターです。ツールの呼び出しでは、ツールの名前（このクライアントに見える名前）と引数です。 */
    params: { name?: string; arguments?: Record<string, any>; [key: string]: any };
  };
  /** 応答です。呼び出しの後にだけあります。 */
  response?: ToolResult & { tools?: Tool[]; [key: string]: any };
  metadata: {
    clientId: string;
    /** サーバー自身が使う、サーバーとツールの名前です。どのクライアントでも同じです。 */
    serverName?: string;
    toolName?: string;
    workflowId: string;
    nodeId: string;
    /** クライアントが名乗った情報です。 */
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

/** スクリプトが返せる値です。何も返さなければ continue と同じです。 */
interface Returned {
  /** respond は response を応答として返し、deny は呼び出しを拒否します。 */
  action?: "continue" | "respond" | "deny";
  response?: Context["response"];
  request?: Context["request"];
  /** 呼び出しを拒否する理由です。 */
  reason?: string;
  /** 拒否した呼び出しを、そのまま再送してよくなるまでの秒数です。なければ、再送しないようエージェントに伝えます。 */
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

/** 出力した行は、実行の記録に残ります。 */
declare const console: {
  log(...values: any[]): void;
  info(...values: any[]): void;
  warn(...values: any[]): void;
  error(...values: any[]): void;
  debug(...values: any[]): void;
};

/** 待ちます。待った時間は、スクリプトの実行時間に含めません。 */
declare function sleep(ms: number): Promise<void>;

/** 実行後も残る値です。残す範囲はワークフローの state.scope で決まります。 */
declare const state: {
  get(key: string): Promise<any>;
  /** ttl は値を残す秒数です。空きがなくなると、その前に削除されることがあります。ttl がなければ、最後の変更から state.ttlS（既定は 1 時間）が過ぎるまで残ります。空きがなければ、何も変えずに例外を投げます。 */
  set(key: string, value: any, ttl?: number): Promise<void>;
  /** 数値に一度の操作で加算し、合計を返します。新しい数値と、最初の加算から ttl 秒が過ぎた数値は 0 から始まります。同じ state のほかの値のために削除されることはありません。セッションやクライアントが多い場合は、最後に使われたのが最も古いものの値がすべて削除されることがあります。 */
  add(key: string, by?: number, ttl?: number): Promise<number>;
  delete(key: string): Promise<void>;
};

/** 結果のすべての文字列を置き換えます。content のテキストと、structuredContent のすべての文字列が対象です。ほかの値では、すべての文字列が対象です。関数が何も返さなければ、その文字列は変わりません。変更した値を返します。 */
declare function mapText<T>(value: T, fn: (text: string) => string | void): T;

/** ワークフローが許可したホストに HTTP リクエストを送ります。 */
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

/** 呼び出し元の権限でツールを呼び出します。structuredContent があればそれを、なければテキストを（JSON なら解析して）返します。ツールが失敗すると、そのテキストで例外を投げます。 */
declare const call: {
  (tool: string, args?: Record<string, any>): Promise<any>;
  /** 結果の全体を返します。 */
  raw(tool: string, args?: Record<string, any>): Promise<ToolResult>;
};
