import { Notice } from "./model";

export const Banner = ({ notice }: { notice: Notice }) => {
  return <div className={notice.level}>{notice.text}</div>;
};

export const NoticeList = ({ notices, dismiss }: { notices: Notice[]; dismiss: (at: number) => void }) => {
  return (
    <ul>
      {notices.map((notice, at) => (
        <li key={at} onClick={() => dismiss(at + 1)}>
          <Banner notice={notice} />
        </li>
      ))}
    </ul>
  );
};

export const Counter = ({ notices }: { notices: Notice[] }) => {
  const unread = notices.filter((notice) => notice.read);
  return <span>{unread.length}</span>;
};
