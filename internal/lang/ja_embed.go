package lang

// What is said about embeddings.
var jaEmbed = map[string]string{
	"the embeddings endpoint cannot be reached; see whether it runs, and check %s.url in the configuration":                  "エンベディングのエンドポイントに接続できません。動いているかを確かめ、設定の %s.url を確認してください",
	"the embeddings endpoint answers with status %d: %s":                                                                     "エンベディングのエンドポイントがステータス %d を返しました：%s",
	"check %s.url in the configuration":                                                                                      "設定の %s.url を確認してください",
	"check %s.apiKey in the configuration":                                                                                   "設定の %s.apiKey を確認してください",
	"check url, kind and model of %s in the configuration; Ollama needs the model pulled":                                    "設定の %s の url、kind、model を確認してください。Ollama では先にモデルを pull する必要があります",
	"check model and dimensions of %s in the configuration":                                                                  "設定の %s の model と dimensions を確認してください",
	"it has had enough for now; it is tried again later":                                                                     "リクエストが多すぎます。後でもう一度試します",
	"it is in trouble; its own log tells why":                                                                                "エンドポイント側の障害です。原因はそのログで確認してください",
	"the embeddings endpoint is not what was expected: %s; check kind and model of %s in the configuration":                  "エンベディングのエンドポイントの応答が想定と違います：%s。設定の %s の kind と model を確認してください",
	"the embeddings endpoint does not answer a query within %v; it is asked again later, as the model may have to be loaded": "エンベディングのエンドポイントが %v 以内に検索に応答しません。モデルを読み込み中かもしれないため、後でもう一度試します",
	"it does not answer with embeddings":                                                                                     "エンベディングの形式の応答ではありません",
	"it gives another number of vectors than there are texts":                                                                "ベクトルの数がテキストの数と一致しません",
	"it gives a vector that is empty or no direction":                                                                        "空のベクトル、または向きのないベクトルが含まれています",
	"it gives vectors of different lengths":                                                                                  "長さの異なるベクトルが含まれています",
	"%s needs a url (where the model is) and a model (its name there)":                                                       "%s には url（モデルの場所）と model（そこでの名前）が必要です",
	"%s must be a number from 0 to 1":                                                                                        "%s には 0 から 1 までの数を指定してください",
	"embeddings cannot be had: %s":                                                                                           "エンベディングを取得できません。%s",
	"searches find tools by words alone until they can":                                                                      "取得できるまで、検索は単語だけでツールを探します",
	"searches find tools by words alone until they can; the model was asked last at %s":                                      "取得できるまで、検索は単語だけでツールを探します。モデルに最後に問い合わせたのは %s です",
	"the web UI tests the address under Settings, n8n and embeddings; the setting is embeddings in %s":                       "Web UI の「設定」の「n8n とエンベディング」でアドレスをテストできます。設定は %s の embeddings にあります",
	"Embeddings": "エンベディング",
	"it gives a vector that is longer than any model's": "どのモデルよりも長いベクトルが含まれています",
}
