/** The chat format of small students: compactChat.ts encodes, parseChat.ts parses. */
import type { ChatFormat } from "./chatFormat.ts";
import { encodeChat, studentLimits } from "./compactChat.ts";
import { createMessageGrammar } from "./messageGrammar.ts";
import { isMessageEnd, parseMessage } from "./parseChat.ts";
import { ReplyStream } from "./replyStream.ts";
import { shortenReply } from "./replyText.ts";
import type { Tokenizer } from "./tokenizer.ts";

export const createCompactFormat = (tokenizer: Tokenizer): ChatFormat => ({
  limits: studentLimits,
  describesTools: false,
  callSyntax: "compact",
  hasGrammar: true,
  encode(conversation) {
    const { tools } = conversation;
    const { aliases, ...chat } = encodeChat(tokenizer, conversation);
    return {
      ...chat,
      readReply: onText => new ReplyStream(tokenizer, aliases, onText),
      parse: ids => parseMessage(tokenizer, tools, ids, aliases),
      openGrammar: options => createMessageGrammar(tokenizer, { ...options, aliases }),
    };
  },
  isMessageEnd,
  decode: ids => tokenizer.decode(ids),
  readToken: id =>
    tokenizer.isText(id) ? tokenizer.bytesOf(id) : Buffer.from(tokenizer.decode([id])),
  indexCalls(ids) {
    const also = tokenizer.markId("<also>");
    let call = 0;
    return ids.map(id => (id === also ? ++call : call));
  },
  shortenReply,
});
