// The one place where snake_case becomes camelCase.

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

  fromObjects<Row>(rows: readonly Record<string, unknown>[]): Row[] {
    return rows.map(
      (row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [camel(name), value])) as Row,
    )
  },
}
