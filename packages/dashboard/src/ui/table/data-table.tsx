// A table that is worked by mouse and by keys: j and k move, x selects, o or Enter opens. On a phone each row is a card.
import { type ReactNode, useMemo, useState } from 'react'
import { Icon } from '../icon.tsx'
import { useKeys } from '../keys.ts'
import { type Sort, sorted } from './sorting.ts'

export interface Column<Row> {
  readonly key: string
  readonly title: string
  cell(row: Row): ReactNode
  /** What rows are sorted by; without it the column cannot be. */
  sort?(row: Row): number | string | null
  readonly align?: 'right'
  /** The column that names the row. */
  readonly isHead?: boolean
  /** On a phone: left out, or as wide as the card. */
  readonly narrow?: 'hide' | 'full'
  /** Cut off with … when it is too long. */
  readonly isWide?: boolean
}

export interface DataTableProps<Row> {
  /** What the table lists. Read aloud, and shown if `showLabel`. */
  label: string
  showLabel?: boolean
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  keyOf(row: Row): string
  /** At the beginning; a click on a title changes it. */
  sort?: Sort
  /** Instead of sorting here: the caller asks the server. */
  onSort?: (sort: Sort) => void
  selected?: ReadonlySet<string>
  onSelect?: (selected: ReadonlySet<string>) => void
  onOpen?: (row: Row) => void
  /** More keys, each about the row on which the keys are. */
  rowKeys?: Readonly<Record<string, (row: Row) => void>>
  /** Instead of the table when there are no rows. */
  none: ReactNode
  /** Keys act on it; at most one table of a screen. */
  hasKeys?: boolean
  /** On a phone: rows become cards, or stay rows where the columns are few and narrow. Default: cards. */
  onPhone?: 'cards' | 'rows'
  /** The page scrolls, and the titles stay below the bar on top. Otherwise the table scrolls by itself. */
  isPage?: boolean
}

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { rows, columns, keyOf, selected, onSelect, onOpen, hasKeys = true, isPage = true } = props
  const [ownSort, setOwnSort] = useState(props.sort)
  const sort = props.onSort ? props.sort : ownSort
  const shown = useMemo(() => (props.onSort ? rows : sorted(rows, columns, sort)), [rows, columns, sort, props.onSort])
  const { cursor, choose } = useRowKeys(
    { rows: shown, keyOf, selected, onSelect, onOpen, rowKeys: props.rowKeys },
    hasKeys,
  )
  if (rows.length === 0) return <>{props.none}</>
  const changeSort = (next: Sort) => (props.onSort ? props.onSort(next) : setOwnSort(next))
  return (
    <div className={`dt ${props.onPhone ?? 'cards'} ${isPage ? 'page' : ''}`}>
      <table>
        <caption className={props.showLabel ? '' : 'vh'}>{props.label}</caption>
        <thead>
          <tr>
            {onSelect && <PickAll rows={shown} keyOf={keyOf} selected={selected} onSelect={onSelect} />}
            {columns.map((column) => (
              <Title key={column.key} column={column as Column<never>} sort={sort} onSort={changeSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => {
            const key = keyOf(row)
            const isPicked = selected?.has(key) ?? false
            const classes = `${isPicked ? 'sel' : ''} ${cursor === key ? 'cursor' : ''}`.trim()
            return (
              <tr key={key} className={classes} data-row={key} {...(cursor === key && { 'aria-current': true })}>
                {onSelect && (
                  <td className="pick">
                    <input
                      type="checkbox"
                      aria-label={`Select ${key}`}
                      checked={isPicked}
                      onChange={(event) => choose(key, (event.nativeEvent as MouseEvent).shiftKey)}
                    />
                  </td>
                )}
                {columns.map((column) => (
                  <Cell key={column.key} column={column} row={row} />
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  const { isHead, align, narrow, isWide, title } = column
  const names = [
    align === 'right' && 'r',
    isWide && 'wide',
    narrow === 'hide' && 'hide-narrow',
    narrow === 'full' && 'full',
  ]
  const className = names.filter(Boolean).join(' ')
  const content = column.cell(row)
  if (isHead) {
    return (
      <th scope="row" className={className}>
        {content}
      </th>
    )
  }
  return (
    <td className={className} data-title={title}>
      {content}
    </td>
  )
}

interface TitleProps {
  column: Pick<Column<never>, 'key' | 'title' | 'sort' | 'align' | 'narrow'>
  sort: Sort | undefined
  onSort: (sort: Sort) => void
}

function Title({ column, sort, onSort }: TitleProps) {
  const { key, title, align, narrow } = column
  const isSorted = sort?.key === key
  const direction = isSorted ? (sort.isDescending ? 'descending' : 'ascending') : undefined
  return (
    <th
      scope="col"
      className={`${align === 'right' ? 'r' : ''} ${narrow === 'hide' ? 'hide-narrow' : ''}`.trim()}
      {...(direction && { 'aria-sort': direction })}
    >
      {column.sort === undefined ? (
        title
      ) : (
        <button
          type="button"
          onClick={() => onSort({ key, isDescending: isSorted ? !sort.isDescending : align === 'right' })}
        >
          {title}
          {isSorted && <Icon name={sort.isDescending ? 'down' : 'up'} />}
        </button>
      )}
    </th>
  )
}

interface PickAllProps<Row> {
  rows: readonly Row[]
  keyOf(row: Row): string
  selected: ReadonlySet<string> | undefined
  onSelect: (selected: ReadonlySet<string>) => void
}

function PickAll<Row>({ rows, keyOf, selected, onSelect }: PickAllProps<Row>) {
  const isAll = rows.length > 0 && rows.every((row) => selected?.has(keyOf(row)))
  const isSome = !isAll && (selected?.size ?? 0) > 0
  return (
    <th scope="col" className="pick">
      <input
        type="checkbox"
        aria-label="Select all rows that are shown"
        checked={isAll}
        ref={(box) => {
          if (box) box.indeterminate = isSome
        }}
        onChange={() => onSelect(isAll ? new Set() : new Set(rows.map(keyOf)))}
      />
    </th>
  )
}

type Worked<Row> = Pick<DataTableProps<Row>, 'rows' | 'keyOf'> & {
  selected: ReadonlySet<string> | undefined
  onSelect: ((selected: ReadonlySet<string>) => void) | undefined
  onOpen: ((row: Row) => void) | undefined
  rowKeys: DataTableProps<Row>['rowKeys'] | undefined
}

/** Which row the keys are on. It is remembered by key, so that it stays with its row while rows come and go. */
function useRowKeys<Row>({ rows, keyOf, selected, onSelect, onOpen, rowKeys = {} }: Worked<Row>, hasKeys: boolean) {
  const [cursor, setCursor] = useState<string | null>(null)
  const [anchor, setAnchor] = useState<string | null>(null)
  const position = rows.findIndex((row) => keyOf(row) === cursor)
  const move = (by: number) => {
    const next =
      rows[Math.max(0, Math.min(rows.length - 1, position === -1 ? (by > 0 ? 0 : rows.length - 1) : position + by))]
    if (next === undefined) return
    setCursor(keyOf(next))
    document.querySelector(`[data-row="${CSS.escape(keyOf(next))}"]`)?.scrollIntoView({ block: 'nearest' })
  }
  const choose = (key: string, isRange: boolean) => {
    const keys = rows.map(keyOf)
    const [from, to] = [keys.indexOf(anchor ?? key), keys.indexOf(key)].sort((a, b) => a - b) as [number, number]
    const range = isRange && from !== -1 ? keys.slice(from, to + 1) : [key]
    const next = new Set(selected)
    const isOut = !isRange && next.has(key)
    for (const each of range) isOut ? next.delete(each) : next.add(each)
    setAnchor(key)
    onSelect?.(next)
  }
  const act = (action: (row: Row) => void) => () => {
    const row = rows[position]
    if (row !== undefined) action(row)
  }
  const own = Object.entries(rowKeys).map(([key, action]) => [key, act(action)] as const)
  useKeys(
    {
      j: () => move(1),
      k: () => move(-1),
      ...(onSelect && { x: () => cursor && choose(cursor, false), X: () => cursor && choose(cursor, true) }),
      ...Object.fromEntries(own),
      ...(onOpen && { o: act(onOpen), Enter: act(onOpen) }),
      ...(onSelect && selected && selected.size > 0 && { Escape: () => onSelect(new Set()) }),
    },
    hasKeys,
  )
  return { cursor, choose }
}
