// The metrics that a PromQL query names.

const KEYWORDS = /^(by|on|without|ignoring|group_left|group_right|and|or|unless|offset|bool)$/

/** What is left of a query without labels, texts, functions, numbers and words of the language. */
export function metricsOf(query: string): string[] {
  const bare = query
    .replace(/"[^"]*"/g, '')
    .replace(/\{[^}]*\}/g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\b(by|on|without|ignoring) ?\([^)]*\)/g, '')
  return [...bare.matchAll(/[a-zA-Z_:][\w:]*(?! *\()\b/g)]
    .map(([name]) => name)
    .filter((name) => !KEYWORDS.test(name) && !new RegExp(`${name} *\\(`).test(bare) && !/^\d/.test(name))
    .filter((name) => name !== 'ALERTS' && name !== 'h')
}
