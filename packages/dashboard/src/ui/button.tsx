// Buttons. One that would change nothing stays visible, and says why.
import { type ButtonHTMLAttributes, type MouseEvent, type Ref, useId, useState } from 'react'
import { Icon } from './icon.tsx'

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'onClick' | 'disabled'> {
  /** At most one primary button per task. */
  variant?: 'plain' | 'primary' | 'danger' | 'quiet'
  size?: 'md' | 'sm' | 'lg'
  /** While a promise that it returns is open, the button shows that, and cannot be pressed again. */
  onClick?: ((event: MouseEvent<HTMLButtonElement>) => unknown) | undefined
  /** Why it cannot be pressed now: a sentence. It stays visible, and can be reached by keyboard. */
  disabledBecause?: string | null | undefined
  /** Show that sentence beside the button, and not only on hover. */
  showReason?: boolean
  ref?: Ref<HTMLButtonElement>
}

export function Button(props: ButtonProps) {
  const { variant = 'plain', size = 'md', disabledBecause, showReason = false, onClick, ...rest } = props
  const { children, className = '', ...attributes } = rest
  const reasonId = useId()
  const [isBusy, setBusy] = useState(false)
  const isOff = isBusy || (disabledBecause ?? '') !== ''
  const press = async (event: MouseEvent<HTMLButtonElement>) => {
    if (isOff) return event.preventDefault()
    const answer = onClick?.(event)
    if (!(answer instanceof Promise)) return
    setBusy(true)
    await answer.finally(() => setBusy(false))
  }
  return (
    <>
      <button
        type="button"
        className={`btn ${variant} ${size} ${className}`}
        onClick={press}
        {...(isOff && { 'aria-disabled': true })}
        {...(disabledBecause && { title: disabledBecause, 'aria-describedby': reasonId })}
        {...attributes}
      >
        {isBusy && <Icon name="busy" className="busy" />}
        {children}
      </button>
      {disabledBecause && (
        <span id={reasonId} className={showReason ? 'why-not' : 'vh'}>
          {disabledBecause}
        </span>
      )}
    </>
  )
}
