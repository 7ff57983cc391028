"""What short files hold, from titles of four characters to a sentence, and the encodings that they are saved in."""

SIMPLIFIED = """
仓库规则
请假制度
出差报销
安全手册
质量控制流程
仓库管理办法
货物入库前必须检查。
产品,价格,仓库
螺栓,0.12,一号库
# 会议室预订
客户投诉处理流程
钥匙由保安室保管。
每周五下午三点开例会。
差旅费用须在三十天内报销。
新员工入职第一天领取门禁卡。
上午班六点开始，下午班两点开始。
叉车只能由持证人员驾驶。
危险品存放在三号仓库，未经许可不得进入。
""".strip().split("\n")

TRADITIONAL = """
倉庫規則
請假制度
出差報銷
安全手冊
品質控制流程
倉庫管理辦法
貨物入庫前必須檢查。
產品,價格,倉庫
螺絲,0.12,一號倉
# 會議室預訂
客戶投訴處理流程
鑰匙由警衛室保管。
每週五下午三點開例會。
差旅費用須在三十天內報銷。
新員工到職第一天領取門禁卡。
早班六點開始，午班兩點開始。
堆高機只能由持有執照的人員駕駛。
危險品存放在三號倉庫，未經許可不得進入。
""".strip().split("\n")

JAPANESE = """
倉庫規則
休暇規程
出張規程
安全手順書
就業規則
会議室の予約
品名,単価,場所
ねじ,120,棚A
# 病気休暇
ナット,450,棚C
鍵は警備室にあります。
喫煙は屋上でのみ許可されています。
出張の日当は三千円です。
経費精算の締め切りは毎月十日です。
荷物は必ず検品してから入庫してください。
フォークリフトは免許を持つ者だけが運転できます。
早番は六時、遅番は十四時に始まります。
緊急連絡先は総務部です。
""".strip().split("\n")

KOREAN = """
창고 규칙
휴가 규정
출장비 정산
안전 수칙
품질관리 절차
창고 운영 지침
입고 전에 반드시 검사하십시오.
제품,가격,창고
볼트,0.12,1번 창고
# 회의실 예약
고객 불만 처리
열쇠는 경비실에 있습니다.
매주 금요일 오후 세 시에 회의가 있습니다.
출장비는 삼십 일 안에 청구해야 합니다.
신입 사원은 첫날 출입증을 받습니다.
오전 근무는 여섯 시에 시작합니다.
지게차는 면허가 있는 사람만 운전할 수 있습니다.
위험물은 삼 번 창고에 보관합니다.
""".strip().split("\n")

RUSSIAN = """
Правила склада
Отпуск
Командировочные расходы
Техника безопасности
Контроль качества
ПРАВИЛА СКЛАДА
Товар проверяют до приёмки.
Товар,Цена,Склад
Болт,0.12,Склад 1
# Переговорная
Жалобы клиентов
Ключи хранятся у охраны.
Собрание каждую пятницу в три часа.
Расходы возмещаются в течение 30 дней.
Пропуск выдают в первый день.
Утренняя смена начинается в шесть.
Погрузчиком управляет только водитель с допуском.
Опасные грузы хранятся на третьем складе.
""".strip().split("\n")

LATIN = """
Größe
Café
Überstunden
Señalización
Política de férias
Règlement intérieur
Ausgangsmaß prüfen
Produkt,Größe,Lager
Straße 12, München
# Réservation de salle
Não é permitido fumar.
Los martes está cerrado; ¿quién abre?
Der Schlüssel liegt beim Wachdienst.
Les réclamations sont traitées le jour même.
Die Frühschicht beginnt um 6 Uhr früh, die Spätschicht später.
As exceções são aprovadas pela chefia.
Gabelstapler fährt nur, wer einen Führerschein besitzt.
Blåbär, ærlig, smørrebrød och kött
""".strip().split("\n")

SAVED = (
    ("gb18030", SIMPLIFIED),
    ("big5", TRADITIONAL),
    ("shift_jis", JAPANESE),
    ("euc_jp", JAPANESE),
    ("euc_kr", KOREAN),
    ("cp1251", RUSSIAN),
    ("koi8_r", RUSSIAN),
    ("latin-1", LATIN),
)
