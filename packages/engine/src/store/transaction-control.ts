// Which SQL under a tenant's role would end its transaction or its role. An accident guard, not a wall: it looks at the first
// statement of a text, and the check after each statement finds the rest.

const LEAVES =
  /^(begin|start|commit|end|abort|rollback(?!\s+(work\s+|transaction\s+)?to)|prepare\s+transaction|discard|reset\s+(role|all|session)|set\s+((local|session)\s+)?(role|session\s+authorization))\b/i

/** `query` is a text, or an object with one, as `pg` takes it. Throws if it would leave. */
export function demandStaying(query: unknown): void {
  const text = opening(typeof query === 'string' ? query : String((query as { text?: unknown } | null)?.text ?? ''))
  if (!LEAVES.test(text)) return
  throw new Error(
    `tenantDb owns its transaction and its role: "${text.trim().slice(0, 40)}" is not for its work to say. Return to commit, throw to roll back.`,
  )
}

/** From the first word on: without the white space, comments and empty statements before it. */
function opening(text: string): string {
  let rest = text
  for (;;) {
    const next = rest.replace(/^(?:[\s;]+|--[^\n]*)/, '')
    const after = next.startsWith('/*') ? afterComment(next) : next
    if (after === rest) return rest
    rest = after
  }
}

/** Postgres nests comments. */
function afterComment(text: string): string {
  let depth = 0
  for (const { 0: mark, index } of text.matchAll(/\/\*|\*\//g)) {
    depth += mark === '/*' ? 1 : -1
    if (depth === 0) return text.slice(index + 2)
  }
  return ''
}
