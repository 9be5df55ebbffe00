// What an edit changes, value by value.

interface Change {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
}

const MOST = 50

export function PayloadChanges({ before, after }: { before: unknown; after: unknown }) {
  const changes = changesBetween(before, after)
  if (changes.length === 0) return <p className="note">Nothing is changed yet.</p>
  return (
    <div className="diff" role="region" aria-label="What the edit changes">
      {changes.slice(0, MOST).map(({ path, before: old, after: now }) => (
        <div key={path}>
          {old !== null && (
            <del>
              {path}: {old}
            </del>
          )}
          {now !== null && (
            <ins>
              {path}: {now}
            </ins>
          )}
        </div>
      ))}
      {changes.length > MOST && <p className="note">{changes.length - MOST} more values differ.</p>}
    </div>
  )
}

function changesBetween(before: unknown, after: unknown): Change[] {
  const old = leavesOf(before)
  const now = leavesOf(after)
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((path) => ({ path, before: old.get(path) ?? null, after: now.get(path) ?? null }))
    .filter((each) => each.before !== each.after)
}

/** Every value by its path: 'user.address.0.city'. */
function leavesOf(value: unknown, path = '', found = new Map<string, string>()): Map<string, string> {
  const isNode = typeof value === 'object' && value !== null && Object.keys(value).length > 0
  if (!isNode) return found.set(path === '' ? 'payload' : path, JSON.stringify(value) ?? 'nothing')
  for (const [key, each] of Object.entries(value)) leavesOf(each, path === '' ? key : `${path}.${key}`, found)
  return found
}
