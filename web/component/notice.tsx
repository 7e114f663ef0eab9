// A sentence about the last action, also announced to screen readers.

import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react';

const shownMs = 6_000;

const NoticeContext = createContext<(text: string) => void>(() => undefined);

export const useNotice = (): ((text: string) => void) => useContext(NoticeContext);

export function Notices({ children }: { readonly children: ReactNode }) {
  const [notice, setNotice] = useState<{ readonly text: string } | null>(null);
  const notify = useCallback((text: string) => setNotice({ text }), []);
  useEffect(() => {
    if (notice === null) return undefined;
    const timer = setTimeout(() => setNotice(null), shownMs);
    return () => clearTimeout(timer);
  }, [notice]);
  return (
    <NoticeContext value={notify}>
      {children}
      <div role="status" className="notice" data-shown={notice !== null}>
        {notice?.text}
      </div>
    </NoticeContext>
  );
}
