// The one place where snake_case becomes camelCase, and where ids become strings whatever a driver makes of them.

const known = new Map<string, string>()

function camel(name: string): string {
  let result = known.get(name)
  if (result === undefined) {
    result = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    known.set(name, result)
  }
  return result
}

export const toRows = {
  fromArrays<Row>(fields: readonly { name: string }[], rows: readonly unknown[][]): Row[] {
    const names = fields.map((field) => camel(field.name))
    return rows.map((values) => {
      const row: Record<string, unknown> = {}
      for (let i = 0; i < names.length; i++) row[names[i] as string] = values[i]
      return row as Row
    })
  },

  /** Rows from a transaction of the caller's, whose driver may have parsers of its own. */
  fromObjects<Row>(rows: readonly Record<string, unknown>[]): Row[] {
    return rows.map(
      (row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [camel(name), plain(name, value)])) as Row,
    )
  },
}

const ID = /(^|_)id$/

/** Some drivers read bigint as BigInt, and many programs tell `pg` to read it as a number. */
function plain(name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  return typeof value === 'number' && ID.test(name) ? String(value) : value
}
