// A question above the page. The browser keeps the focus inside, ends it with Escape, and gives the focus back.
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Button } from '../button.tsx'
import { Icon } from '../icon.tsx'

export interface DialogProps {
  title: ReactNode
  isOpen: boolean
  onClose: () => void
  children: ReactNode
  /** The buttons; the primary one last. */
  end?: ReactNode
  isWide?: boolean
}

/** Its content is there only while it is open, so its state begins anew each time. */
export function Dialog(props: DialogProps) {
  return props.isOpen ? <OpenDialog {...props} /> : null
}

function OpenDialog({ title, onClose, children, end, isWide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const dialog = element.current
    const opener = document.activeElement
    dialog?.showModal()
    // Not on the button that closes it, which is the first.
    dialog?.focus()
    return () => {
      dialog?.close()
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])
  return (
    <dialog
      ref={element}
      tabIndex={-1}
      className={isWide ? 'wide' : ''}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <div className="head">
        <h2 id={titleId}>{title}</h2>
        <Button variant="quiet" size="sm" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </Button>
      </div>
      <div className="body">{children}</div>
      {end && <div className="end">{end}</div>}
    </dialog>
  )
}
