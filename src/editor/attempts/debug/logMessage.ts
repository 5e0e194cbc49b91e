/** The messages of logpoints: text with expressions in braces, such as `{arguments.amount} EUR`. */
import { ExpressionError, parseExpression, type Variables } from "./expression.ts";

/** Formats a message with the values at a position. */
export type LogMessage = (variables: Variables) => string;

/**
 * Parses a message. Throws an `ExpressionError` if braces contain something else. A path that does
 * not exist where the message is printed is named instead of its value.
 */
export function parseLogMessage(text: string): LogMessage {
  const parts = text.split(/\{([^{}]*)\}/).map((part, i) => {
    if (i % 2 === 0) return () => part;
    const evaluate = parseExpression(part);
    return (variables: Variables) => {
      try {
        const value = evaluate(variables);
        return typeof value === "string" ? value : JSON.stringify(value);
      } catch (error) {
        if (error instanceof ExpressionError) return `(${error.message})`;
        throw error;
      }
    };
  });
  return variables => parts.map(it => it(variables)).join("");
}
