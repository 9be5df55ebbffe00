// A button with choices below it.
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { Icon } from '../icon.tsx'

export interface MenuItem {
  readonly key: string
  readonly label: ReactNode
  readonly onChoose: () => unknown
  /** The one that holds now, in a menu that chooses one of several. */
  readonly isChosen?: boolean
  /** Why it cannot be chosen: a sentence. */
  readonly disabledBecause?: string | null
}

export interface MenuProps {
  /** On the button. */
  label: ReactNode
  /** Read aloud, if the label is not enough. */
  name?: string
  items: readonly MenuItem[]
  /** Opens to the left of the button's right edge. */
  isRight?: boolean
  className?: string
}

export function Menu({ label, name, items, isRight = false, className = 'chip' }: MenuProps) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const root = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const close = (focus = false) => {
    setOpen(false)
    if (focus) button.current?.focus()
  }
  useEffect(() => {
    if (!isOpen) return
    const list = root.current?.querySelectorAll<HTMLElement>('[role^=menuitem]')
    ;([...(list ?? [])].find((item) => item.ariaChecked === 'true') ?? list?.[0])?.focus({ preventScroll: true })
    const outside = (event: PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false)
    }
    const topOf = () => button.current?.getBoundingClientRect().top
    const opened = topOf()
    const drop = () => setOpen(false)
    // The bar on top stays where it is, whatever the page below it does.
    const scrolled = () => {
      if (topOf() !== opened) drop()
    }
    document.addEventListener('pointerdown', outside)
    addEventListener('scroll', scrolled)
    addEventListener('resize', drop)
    return () => {
      document.removeEventListener('pointerdown', outside)
      removeEventListener('scroll', scrolled)
      removeEventListener('resize', drop)
    }
  }, [isOpen])
  const move = (by: number | 'first' | 'last') => {
    const list = [...(root.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])]
    const at = list.indexOf(document.activeElement as HTMLElement)
    const next = by === 'first' ? 0 : by === 'last' ? list.length - 1 : (at + by + list.length) % list.length
    list[next]?.focus()
  }
  const keys: Record<string, () => void> = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Home: () => move('first'),
    End: () => move('last'),
    Escape: () => close(true),
  }
  return (
    <div className="menu" ref={root}>
      <button
        ref={button}
        type="button"
        className={className}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={id}
        {...(name && { 'aria-label': name })}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') setOpen(true)
        }}
      >
        {label}
        <Icon name="down" />
      </button>
      {isOpen && (
        <div
          id={id}
          role="menu"
          tabIndex={-1}
          className="menu-list"
          ref={(list) => place(list, button.current, isRight)}
          onBlur={(event) => {
            if (event.relatedTarget && !root.current?.contains(event.relatedTarget)) setOpen(false)
          }}
          onKeyDown={(event) => {
            const action = keys[event.key]
            if (event.key === 'Tab') return setOpen(false)
            if (action === undefined) return
            event.preventDefault()
            event.stopPropagation()
            action()
          }}
        >
          {items.map((item) => (
            <Item key={item.key} item={item} onDone={() => close(true)} />
          ))}
        </div>
      )}
    </div>
  )
}

/** Fixed, so that no panel around it cuts it off; above the button where there is no room below. */
function place(list: HTMLElement | null, button: HTMLElement | null, isRight: boolean): void {
  if (list === null || button === null) return
  const at = button.getBoundingClientRect()
  const { width, height } = list.getBoundingClientRect()
  const left = isRight ? at.right - width : at.left
  const isAbove = at.bottom + height + 8 > innerHeight && at.top > height + 8
  list.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`
  list.style.top = `${isAbove ? at.top - height - 4 : at.bottom + 4}px`
}

function Item({ item, onDone }: { item: MenuItem; onDone: () => void }) {
  const { label, isChosen, disabledBecause, onChoose } = item
  return (
    <button
      type="button"
      role={isChosen === undefined ? 'menuitem' : 'menuitemradio'}
      tabIndex={-1}
      {...(isChosen !== undefined && { 'aria-checked': isChosen })}
      {...(disabledBecause && { 'aria-disabled': true, title: disabledBecause })}
      onClick={() => {
        if (disabledBecause) return
        onDone()
        onChoose()
      }}
    >
      {label}
      {isChosen && <Icon name="ok" />}
    </button>
  )
}
