// The query: typed, completed by suggestions, and if it cannot be read, shown with the place where.
import { AdminError } from '@millrace/admin/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useId, useRef, useState } from 'react'
import { useTenant } from '../../app/address.ts'
import { ask } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { compactNumber } from '../../ui/text/format.ts'

export interface SearchBoxProps {
  q: string
  onSearch: (q: string) => void
  error: unknown
}

export function SearchBox({ q, onSearch, error }: SearchBoxProps) {
  const [text, setText] = useState(q)
  const [isOpen, setOpen] = useState(false)
  const [at, setAt] = useState(-1)
  const [position, setPosition] = useState(q.length)
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  useEffect(() => setText(q), [q])
  const suggestions = useSuggestions(text, position, isOpen)
  const items = isOpen ? (suggestions?.items ?? []) : []
  const take = (index: number) => {
    const item = items[index]
    if (item === undefined || suggestions === undefined) return
    const isField = suggestions.of === 'field'
    const rest = text.slice(suggestions.end)
    const put = `${text.slice(0, suggestions.start)}${item.text}${isField || rest.startsWith(' ') ? '' : ' '}`
    setText(put + rest)
    setPosition(put.length)
    setAt(-1)
    // After React has put the text in.
    requestAnimationFrame(() => field.current?.setSelectionRange(put.length, put.length))
  }
  const search = (value = text) => {
    setOpen(false)
    onSearch(value.trim())
  }
  const keys: Record<string, () => void> = {
    ArrowDown: () => {
      setOpen(true)
      setAt(items.length === 0 ? -1 : (at + 1) % items.length)
    },
    ArrowUp: () => setAt(items.length === 0 ? -1 : (at - 1 + items.length) % items.length),
    Enter: () => (at >= 0 && items.length > 0 ? take(at) : search()),
    Tab: () => take(Math.max(0, at)),
    Escape: () => {
      if (isOpen && items.length > 0) setOpen(false)
      else field.current?.blur()
    },
  }
  return (
    <search className="query">
      <div className="search">
        <Icon name="search" />
        <input
          ref={field}
          data-search
          role="combobox"
          aria-label="Search jobs"
          aria-expanded={items.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={at >= 0 && items.length > 0 ? `${id}-${at}` : undefined}
          aria-autocomplete="list"
          aria-invalid={error instanceof AdminError && error.code === 'invalid_query'}
          autoComplete="off"
          spellCheck={false}
          placeholder="status:dead queue:mail error:~timeout created:>-2h"
          value={text}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onSelect={(event) => setPosition(event.currentTarget.selectionStart ?? text.length)}
          onChange={(event) => {
            setText(event.target.value)
            setPosition(event.target.selectionStart ?? event.target.value.length)
            setOpen(true)
            setAt(-1)
          }}
          onKeyDown={(event) => {
            const action = event.key === 'Tab' && (items.length === 0 || event.shiftKey) ? undefined : keys[event.key]
            if (action === undefined) return
            event.preventDefault()
            event.stopPropagation()
            action()
          }}
        />
        {text !== '' && (
          <Button variant="quiet" size="sm" aria-label="Clear the search" onClick={() => search('')}>
            <Icon name="close" />
          </Button>
        )}
      </div>
      <div
        id={`${id}-list`}
        role="listbox"
        aria-label="Suggestions"
        className={items.length > 0 ? 'suggestions' : 'vh'}
      >
        {items.map((item, index) => (
          <div
            key={item.text}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at}
            className={index === at ? 'on' : ''}
            onPointerDown={(event) => {
              // The field must not lose the focus.
              event.preventDefault()
              take(index)
            }}
          >
            <span className="mono">{item.text}</span>
            <span className="note">
              {item.about} {item.count !== null && `${compactNumber(item.count)}${item.isCapped ? '+' : ''}`}
            </span>
          </div>
        ))}
      </div>
      <QueryProblem q={q} error={error} onUse={search} />
    </search>
  )
}

function useSuggestions(text: string, position: number, isOn: boolean) {
  const may = useMay()
  const tenant = useTenant()
  return useQuery({
    ...ask('jobs', 'suggest', { q: text, position, ...(tenant !== undefined && { tenant }) }),
    enabled: isOn && may('jobs.suggest'),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
    retry: false,
  }).data
}

/** Where the query cannot be read, why, and what may be meant. */
function QueryProblem({ q, error, onUse }: { q: string; error: unknown; onUse: (q: string) => void }) {
  if (!(error instanceof AdminError) || error.code !== 'invalid_query') return null
  const { start, end, suggestion } = error.problem as { start?: number; end?: number; suggestion?: string | null }
  const [from, to] = [start ?? 0, Math.max((start ?? 0) + 1, end ?? q.length)]
  return (
    <div className="query-problem" role="alert">
      <pre>
        {q.slice(0, from)}
        <mark>{q.slice(from, to) || ' '}</mark>
        {q.slice(to)}
      </pre>
      <p>{error.message}</p>
      {suggestion && (
        <Button size="sm" onClick={() => onUse(q.slice(0, from) + suggestion + q.slice(end ?? to))}>
          Use <span className="mono">{suggestion}</span>
        </Button>
      )}
    </div>
  )
}
