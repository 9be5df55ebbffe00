import { EgressBudgetExceeded, EgressFailed } from './errors.ts'

/** The JSON of an answer, not nested deeper than `maxDepth` (64). The call's budget has bounded its bytes. */
export async function readJson(response: Response, { maxDepth = 64 }: { maxDepth?: number } = {}): Promise<unknown> {
  const text = await response.text()
  if (isDeeper(text, maxDepth)) {
    throw new EgressBudgetExceeded(
      'json_too_deep',
      maxDepth,
      `The answer is JSON nested deeper than ${maxDepth} levels.`,
    )
  }
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message repeats the text.
    throw new EgressFailed('bad_response', `The answer (status ${response.status}) is not valid JSON.`)
  }
}

/** Counts brackets outside strings, in one pass. Text that is no JSON is left to the parser. */
function isDeeper(text: string, maxDepth: number): boolean {
  let depth = 0
  let isString = false
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (isString && char === '\\') i++
    else if (char === '"') isString = !isString
    else if (isString) continue
    else if (char === '[' || char === '{') depth++
    else if (char === ']' || char === '}') depth--
    if (depth > maxDepth) return true
  }
  return false
}
