export interface Sort {
  readonly key: string
  readonly isDescending: boolean
}

interface Sortable<Row> {
  readonly key: string
  sort?(row: Row): number | string | null
}

const COLLATOR = new Intl.Collator('en', { numeric: true })

/** Rows without a value come last, in both directions. Equal ones stay as they were. */
export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Sortable<Row>[],
  sort: Sort | undefined,
): readonly Row[] {
  const read = columns.find(({ key }) => key === sort?.key)?.sort
  if (sort === undefined || read === undefined) return rows
  const sign = sort.isDescending ? -1 : 1
  return [...rows].sort((a, b) => {
    const [left, right] = [read(a), read(b)]
    if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1
    const difference =
      typeof left === 'number' && typeof right === 'number'
        ? left - right
        : COLLATOR.compare(String(left), String(right))
    return sign * difference
  })
}
