"""Words that say nothing about a subject, by language (ISO 639-1), as they are written: accents kept, lower case.

They are left out of what is searched, never out of what is indexed; the same lists tell languages apart.
"""

from __future__ import annotations

from typing import Final

_LISTS: Final = {
    "en": """
a about above after again against all also am an and any are aren as at be because been before being below between both but
by can cannot could couldn d did didn do does doesn doing don down during each either else ever every few for from further
get gets give go got had hadn has hasn have haven having he her here hers herself him himself his how however i if in into
is isn it its itself just let like ll m many may me might more most much must my myself neither no nor not now of off often
on once one only or other our ours ourselves out over own per please rather re s same shall she should shouldn since so some
such t than that the their theirs them themselves then there these they this those though through thus to too under until up
upon us ve very was wasn we were weren what whatever when where whether which while who whom whose why will with within
without won would wouldn yes yet you your yours yourself yourselves
""",
    "de": """
aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf aus bei beim bin bis
bist bitte da dabei dadurch dafür damit dann daran darauf daraus darf darin darüber das dass davon dazu dein deine dem den
denn der des dessen dich die dies diese diesem diesen dieser dieses dir doch dort du durch eben ein eine einem einen einer
eines einige einigen einmal er es etwa etwas euch euer eure für gegen gibt hab habe haben hat hatte hatten hier hin hinter
ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist ja jede jedem jeden jeder jedes jedoch jene jetzt kann
kannst kein keine keinem keinen keiner können könnte man manche mein meine meinem meinen mich mir mit muss müssen nach nicht
nichts noch nun nur ob obwohl oder ohne sehr sein seine seinem seinen seiner seit selbst sich sie sind so solche soll sollen
sollte sondern sonst sowie über um und uns unser unsere unter viel viele vom von vor wann war waren warum was wegen weil
weiter welche welchem welchen welcher welches wenn wer werde werden wessen wie wieder wieso wieviel will wir wird wirst wo
wobei wodurch wofür woher wohin wohl womit worden wurde wurden würde würden zu zum zur zwar zwischen
""",
    "fr": """
a à afin ai ainsi alors après as au aucun aucune aujourd auquel aussi autre autres aux auxquels avaient avais avait avant avec
avez avoir avons ayant beaucoup bien c car ce ceci cela celle celles celui cependant certains ces cet cette ceux chaque chez
ci combien comme comment d dans de depuis des desquels doit doivent donc dont du duquel elle elles en encore entre es est et
étaient était étant été être eu eux fait faire faut font fut hors il ils j jamais je jusqu l la laquelle le lequel les
lesquelles lesquels leur leurs lors lorsque lui m ma mais me même mêmes mes moi moins mon n ne ni non nos notre nous on ont
ou où par parce pas pendant peu peut peuvent plus plusieurs pour pourquoi pouvez pouvoir puis puisque qu quand que quel
quelle quelles quels qui quoi s sa sans se selon sera serait ses si sien soi soit sommes son sont sous suis sur t ta te tes
toi ton tous tout toute toutes très trop tu un une va vers vos votre vous y
""",
    "es": """
a al algo algún alguna algunas alguno algunos ante antes aquel aquella aquellos así aun aún aunque bajo bien cada casi como
cómo con contra cual cuál cuales cuáles cualquier cuando cuándo cuanta cuánta cuántas cuanto cuánto cuántos cuya cuyo de
debe deben debido del desde después donde dónde dos durante e el él ella ellas ello ellos en entonces entre era eran es esa
esas ese eso esos esta ésta está estaba estado están estas este éste esto estos estoy fue fuera fueron ha había habían hace
hacen hacer hacia han hasta hay he la las le les lo los luego más me mi mientras mis misma mismo mucha muchas mucho muchos
muy nada ni ningún ninguna no nos nosotros nuestra nuestro o os otra otras otro otros para pero poco por porque pos pueda
puede pueden puedo pues que qué quien quién quienes se sea sean según ser será si sí sido siempre sin sino sobre solo sólo
son soy su sus suya suyo también tan tanto te tener tengo ti tiene tienen todas todo todos tras tu tú tus un una unas uno
unos usted ustedes vez y ya yo
""",
    "pt": """
a à ainda além algum alguma algumas alguns ambos ante antes ao aos apenas após aquela aquelas aquele aqueles aquilo as às
até através cada coisa com como contra cuja cujo da daquele das de dela delas dele deles depois desde dessa dessas desse
desses desta deste deve devem disso disto do dos durante e é ela elas ele eles em então enquanto entre era eram essa essas
esse esses esta está estão estas estava este estes estou eu faz fazem fazer foi foram for há isso isto já la lhe lhes lo
logo mais mas me mesma mesmo meu meus minha muita muitas muito muitos na não nas nem nenhum nessa nesse nesta neste no nos
nós nossa nosso num numa o onde ora os ou outra outras outro outros para pela pelas pelo pelos per pode podem podemos pois
por porém porque porquê posso pouco qual quais qualquer quando quanta quantas quanto quantos quase que quê quem são se seja
sem sempre sendo ser será seu seus si sido só sob sobre sua suas tal também tão tem têm tendo tenho ter teu teve tinha toda
todas todo todos tu tua tudo um uma umas uns vai você vocês vos
""",
    "it": """
a abbia abbiamo ad agli ai al alcuna alcune alcuni alcuno all alla alle allo allora altra altre altri altro anche ancora
avere aveva avevano c che chi ci ciascuno cioè ciò coi col come con contro cosa così cui d da dagli dai dal dall dalla dalle
dallo degli dei del dell della delle dello dentro deve devono di dopo dove dovrebbe due dunque durante e è ed egli ella era
erano essa esse essere essi esso fa fare fino fosse fra fu furono gli ha hai hanno ho i il in infatti insieme invece io l la
le lei li lo loro lui ma me meno mentre mi mia mie miei mio molta molte molti molto ne negli nei nel nell nella nelle nello
nessun nessuna nessuno noi non nostra nostro o ogni oppure ora per perché perciò però più poco poi possiamo posso possono
prima proprio può qual qualche quale quali qualsiasi quando quanta quante quanti quanto quasi quella quelle quelli quello
questa queste questi questo qui quindi sarà se secondo sei sempre senza si sia siamo siano sì solo sono sopra sotto sta
stata state stati stato sua sue sugli sui sul sull sulla sulle sullo suo suoi tale tali tanto te ti tra tu tua tuo tutta
tutte tutti tutto un una uno v va verso vi voi vostra vostro
""",
    "nl": """
aan al alle alleen alles als altijd ander andere anders ben bent bij bijvoorbeeld binnen boven buiten daar daarbij daardoor
daarna daarom dan dat de deze die dit doe doen door dus echter een eens elk elke en enige enkele er even ge geen geworden
haar had hadden heb hebben heeft hem het hier hij hoe hoeveel hun iedere iemand iets ik in indien is ja je jij jou jouw
jullie kan kon kun kunnen kunt maar maken me meer men met mij mijn moest moet moeten na naar naast nadat niet niets nog nu
of om omdat onder ons onze ook op over per reeds samen sinds slechts soms te tegen ten ter terwijl toch toe toen tot tussen
u uit uw van vanaf veel via voor vooral wanneer want waar waarbij waardoor waarin waarom waaronder was wat we weer wel welk
welke werd werden wie wij wil worden wordt zal ze zeer zelf zich zij zijn zo zoals zonder zou zouden zowel zullen
""",
    "sv": """
alla allt än att av blev bli blir de dem den denna deras dess dessa det detta dig din dina ditt du där då efter ej ni eller
en enligt er era ert ett finns för från får genom göra gör ha hade han hans har hela henne hennes hon honom hos hur här i
icke in ingen inom inte ja jag kan kunde man med mellan men mer mest mig min mina mitt mot mycket måste ned någon något
några nej när nu och också om oss på samma sedan sig sin sina sitt själv skall ska skulle som så sådan till under upp ut
utan vad var vara varför varit varje vars vart vem vid vilka vilken vilket vår våra vårt vi vill över
""",
    "da": """
ad af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din disse dit dog du efter ej eller en
end er et findes for fordi fra få får før gennem gør han hans har havde have hende hendes her hos hun hvad hvem hver hvilke
hvilken hvilket hvis hvor hvordan hvorfor hvornår i ikke ind ingen ja jeg jer jo kan kun kunne lige man mange med meget
mellem men mens mere mest mig min mine mit mod må måske nej ned ni nogen noget nogle nu når og også om op os over på samme
selv sig sin sine sit skal skulle som så sådan til ud uden under var ved vi vil ville vor være været
""",
    "no": """
alle alt andre at av bare ble bli blir blitt bort bør da de deg dem den denne der dere deres det dette din disse ditt du
eller en enn er et ett etter finnes for fordi fra få får før gjennom gjøre gjør ha hadde han hans har henne hennes her hos
hun hva hvem hver hvilke hvilken hvilket hvis hvor hvordan hvorfor i ikke ingen inn ja jeg kan kun kunne man mange med meg
meget mellom men mens mer mest min mitt mot må måtte ned nei noe noen nå når og også om opp oss over på samme seg selv si
sin sine sitt skal skulle slik som så til under ut uten var vi ved vil ville vår være vært
""",
    "fi": """
ei eikä eivät että ehkä eli ennen en et emme ette hän häneen hänen he heidän hyvin itse ja jo joilla joita joka jokainen
joko jolla jonka jopa jos joskus jossa josta jota jotka jotta juuri kaikki kanssa keiden keitä kenen ketkä koko koska kuin
kuinka kuitenkin kuka kun kuten kyllä lisäksi me meidän mihin mikä mikäli miksi millainen milloin minkä minun minä missä
mistä mitä mitkä miten monta mukaan mukana mutta muu muut myös ne niiden niin niissä niitä noin nyt ole olen olet oli olisi
olivat olla ollut on onko ovat pitää saa se sekä sen siinä siis sillä sinun sinä sitä tai te teidän tämä tämän tässä tätä
tähän tulee täytyy vaan vai vaikka vain vielä voi voidaan voin voiko voivat yli
""",
    "pl": """
a aby ale albo ani aż bardzo bez bo bowiem by być był była było były będzie będą co coś czego czemu czy czyli dla dlaczego
dlatego do gdy gdyby gdyż gdzie go i ich ile im inne inny ja jak jaka jaki jakie jako je jeden jednak jednym jego jej jest
jestem jeśli jeżeli już każda każde każdy kiedy kim która które którego której który których którym którzy kto ku lecz lub
ma mają mam mi mnie może możesz można mój mu musi na nad nam nami nas nasz natomiast nawet nic nich nie niej nim niż no o od
on ona one oni ono oraz po pod podczas ponieważ poza przed przede przez przy raz również są się skąd swoje ta tak taki takie
także tam te tego tej ten też to tobie tu twój ty tych tylko tym u w we wam was według wiele wszystkie wszystko więc z za
zawsze ze że żeby
""",
    "cs": """
a aby aj ale ani ano asi až bez bude budou by byl byla byli bylo být co což či další do ho i já jak jaká jaké jako jaký je
jeho jej její jejich jen jestli jestliže ještě ji jiné již jsem jsi jsme jsou jste k kam kde kdo když ke kolik která které
který kteří ku lze má mají máte mě mezi mi mít mně mnoho mohou může můžete my na nad nám nás náš ne nebo nejsou než nic není
o od on ona oni pak po pod podle pokud pouze proč pro proto protože před při s se si sice své svůj ta tady tak také takže
tam tato te tedy ten tento této tím to toho tom tomto toto tu ty tyto u už v váš vám ve více však všechny z za zda zde ze že
""",
    "hu": """
a abban ahol aki ahogy akkor alatt amely amelyek amikor ami az azért azok azon azonban azt át be belül benne csak de e egy
egyéb egyes egyik ehhez el elő először előtt én ennek és ez ezek ezen ezt ezért fel felé ha hanem hogy hogyan hol hány ide
igen is itt jó ki kell kellett keresztül között le lehet lesz lett ma maga már más meg mely melyik még mellett mert mi miatt
mik mikor milyen minden mint mintha miért mit most nagyon nem nincs ő ők olyan össze ott pedig sem se sok szerint számára
tehát több tud után utána úgy vagy vagyok van vannak való volt voltak
""",
    "ro": """
a acea aceasta această aceea acei acele acest aceasta aceste acestea acestei acestor acestui acum ai aici al ale alt altă
alte am apoi ar are as asupra atât atunci au avea ca că când care cărei căror cât câte ce cel cele cei chiar ci cine cu cum
da dacă dar de deci deja despre din dintre doar după ea ei el ele erau este eu există exista fără fi fie fiecare fiind fost
i în înainte încât între își îi îl la le lor lui mai mult multe mă mea mi mod ne nici noi nostru nu o ori pe pentru peste
poate pot prin sa să sale sau se și sunt spre su sub te toate tot toți tu un una unde unei unele unor unui va vă voi vor
""",
    "tr": """
acaba ama ancak artık aslında az bazı belki ben beni benim bile bir biri birkaç birçok biz bizim bu buna bunda bundan bunlar
bunu bunun burada çok çünkü da daha de değil defa dahi diye en eğer fakat gibi göre hangi hangisi hem hep hepsi her hiç için
ile ise işte kadar kendi kez ki kim kimin mı mi mu mü mıdır midir mudur müdür nasıl ne neden nedir nerede nereye niçin niye
o olan olarak oldu olduğu olur olması ona onlar onu onun orada oysa öyle pek sadece sanki sen şey siz şu şuna tarafından tüm
var vardır ve veya ya yani yapılır yer yok zaman
""",
    "id": """
ada adalah agar akan anda apa apakah atau bagaimana bagi bahwa banyak beberapa belum berapa bila bisa bukan dalam dan dapat
dari daripada dengan di dia dimana hanya harus hingga ia ini itu jika juga kami kapan karena ke kemudian kepada ketika kita
lagi lain lebih mana maka masih mengapa mereka namun oleh pada paling para pernah saat saja sama sampai sangat saya sebagai
sebuah sedang sehingga sejak sekarang selain semua seperti serta setelah setiap siapa suatu sudah supaya tapi telah tentang
terhadap tetapi tidak untuk yaitu yang
""",
    "ca": """
a això al algun alguna alguns als altra altre altres amb aquell aquella aquest aquesta aquestes aquests així cada com contra
d de del dels des després doncs durant e el ell ella els em en encara entre era és eren es està estan et fa fer fins ha hi
ho i i ja l la les li llavors m més meu molt molta molts mentre n no nosaltres o on només pel pels per però perquè pot poden
quan quant quants que què quin quina quines quins qual qui s sense ser seu seva si sobre són sota també tan te tenen té tot
tota tots un una unes uns va van
""",
    "vi": """
ai bao bị bởi các cách cái cần cho chỉ chưa chúng có cũng của cùng do đã đang đây để đến đi điều đó được gì giữa hay hơn khi
không là làm lại lên mà mỗi một mới nào này nên nếu như nhưng những nhiều nó phải qua ra rằng rất rồi sau sao sẽ tại theo
thì thế trên trong trước từ tôi và vào vẫn về vì với
""",
    "ru": """
а без более больше был была были было быть в вам вас ваш весь во вот все всего всех всё вы где да даже для до его ее её если
есть еще ещё же за здесь и из или им имеет их к каждый как какая какие каким какими каких какова каковы какое какой какую
когда которая которого которое которой которую которые который которых кто куда ли либо лишь между меня мне много может
можно мой мы на над надо нам нас наш не него нее ней нельзя нет ни нибудь никогда них ничего но ну о об однако он она они
оно от откуда очень перед по под после потом потому почему почти при про раз с сам сами самый свое своего своей свои свой
своих своих себе себя сейчас сколько со так также такая такие такое такой там те тем теперь то тогда того тоже той только
том тот тут ты у уже хотя чего чей чем через что чтобы чье чья эта эти этим этих это этого этой этом этот эту я является
""",
    "uk": """
а або але без би був була були було бути в вам вас ваш весь ви від він вона вони воно всі все всіх де для до є ж же за з зі
і із її їх її інший й його йому кого коли кожен ким котрий куди лише між мене мені ми може можна можуть на над навіть нам
нас наш не немає ні ніж об однак один ось перед по під після про при саме свого своєї свій себе скільки та так також там те
ти тим тих то тобто тоді той тому ту тут у усі хто це цей ця ці цього цих чи чого чому через що щоб що як яка яке який яких
якщо які якої я
""",
    "el": """
αλλά αν από αυτά αυτές αυτή αυτό αυτοί αυτός αυτού για γιατί δε δεν διότι εάν είμαι είναι εκεί εκείνο ενώ ένα έναν ένας
επειδή επίσης έτσι έχει έχουν έως ή η ήταν θα και κάθε κατά κάτι με μέσα μετά μέχρι μη μια μία μόνο μου μπορεί μπορείτε να ο
οι όλα όλοι όπου όπως όπου όταν ότι ου πιο ποια ποιες ποιο ποιοι ποιος ποιών πόσα πόσο πότε που πού πριν προς πρέπει πως πώς
σαν σας σε στα στη στην στις στο στον στους στων τα τη την της τι τις το τον του τους των ως
""",
    "ar": """
إذا إذ إلا إلى ألا أم أما أن إن أنا أنت أنها أنه أو أي أين أية بعد بعض بل بها به بين تلك تم ثم جدا حتى حيث حول خلال دون ذلك
سوف على عليه عليها عن عند عندما غير فإن في فيه فيها قبل قد كان كانت كل كم كما كيف لا لأن لدى لكن لكي لم لماذا لن له لها لهذا
ليس ما ماذا مثل مع من منذ منها منه متى نحن هذا هذه هل هم هنا هناك هو هي هؤلاء و وقد وهو وهي يجب يمكن يكون التي الذي الذين
اللذان كيفية
""",
    "fa": """
آن آنها آیا از است اگر اما این با باید بر برای بود به بین پس تا چه چرا چگونه چند چیست خود در دارد دارند را روی شد شده شما
شود کجا کدام کرد کرده کردن که کسی کند کنند کنید ما من می نیز هر هم همه همین هست و ولی یا یک
""",
    "he": """
אבל או אותו אותה אז איך איזה אין אל אלא אם אני אנחנו אשר את אתה בין גם הוא היא היה היו הם זאת זה זו יכול יש כאשר כדי כי כך
כל כמה כמו לא לאחר לו מאוד מה מי מתי על עד עם עוד רק של שלו שלה שם
""",
    "hi": """
अगर अपना अपनी अपने अब आप इन इस इसका इसकी इसके इसे उन उनका उनके उस उसका उसकी उसके उसे एक ऐसे और कब कर करता करते करना करने का
कि किया किस किसी की कुछ के कैसे को कोई कौन क्या क्यों जब जहां जहाँ जा जाता जाती जाते जिस जिसका जिसके जो तक तथा तब तो था थी थे
द्वारा दिया न नहीं ने पर भी में यदि यह यहां यहाँ या ये रहा रही रहे लिए वह वहां वहाँ वे से हम हर ही हुआ हुई हुए है हैं हो होता
होती होते होना कितना कितनी कितने कहाँ कहां मैं मेरा
""",
}

# Stretches taken out of a question that is written without spaces, the longest first.
_PHRASES: Final = {
    "zh": """
是什么 为什么 什么样 什么时候 什么 哪一个 哪一种 哪一 哪些 哪个 哪里 哪种 哪位 哪儿 哪年 多少 多久 多大 怎么样 怎么办 怎么
怎样 如何 为何 何时 何地 几个 请问 是否 能否 可以 吗 呢 吧 啊 的 了 是 在 和 与 或 及 谁 有没有 我 你 他 她 它 们 这个 那个
这些 那些 这 那 被 把 於 什麼 為什麼 怎麼 嗎 為何 個 有几天 有几次 有几 几天 几次 几倍 几岁 几年 几小时 几种 有多长 多长
""",
    "ja": """
とは何ですか は何ですか でしょうか ありますか できますか ますか ですか ください について どのように どうやって どうすれば
どうして なぜ いつ どこ どの どれ だれ 誰 何 どう という ました ます です でした である のか には では から まで より への
との として による における など いくつ いくら どんな って こと もの ため
""",
    "ko": """
무엇입니까 무엇인가요 무엇 입니까 인가요 습니까 합니까 됩니까 나요 까요 어떻게 어디 언제 누가 누구 왜 어떤 어느 얼마나 얼마
몇 그리고 하지만 또는 있는 하는 있습니다 합니다 입니다 것은 것을 것이 무슨
""",
    "th": """
คืออะไร อะไร อย่างไร ทำไม เมื่อไร เมื่อไหร่ ที่ไหน ใคร เท่าไร เท่าไหร่ กี่ หรือไม่ ไหม ครับ ค่ะ คะ และ หรือ เป็น ของ ที่ ใน ได้ ให้ คือ จะ
""",
}

STOPWORDS: Final[dict[str, frozenset[str]]] = {language: frozenset(words.split()) for language, words in _LISTS.items()}
STOP_PHRASES: Final[dict[str, tuple[str, ...]]] = {
    language: tuple(sorted(phrases.split(), key=len, reverse=True)) for language, phrases in _PHRASES.items()
}
