/** Where something has moved for good: the last address before the first redirect that is temporary. Null: it has not moved. */
export function permanentAddress(redirects: readonly { status: number; url: string }[]): string | null {
  const temporary = redirects.findIndex(({ status }) => status !== 301 && status !== 308)
  return (temporary === -1 ? redirects : redirects.slice(0, temporary)).at(-1)?.url ?? null
}
